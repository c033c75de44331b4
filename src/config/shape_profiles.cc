// SPDX-License-Identifier: MIT
#include "config/shape_profiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/shapes.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

constexpr const char* kMin = "min_shapes";
constexpr const char* kOpt = "opt_shapes";
constexpr const char* kMax = "max_shapes";
constexpr std::string_view kUnnamed = "input";  // in messages about a shape without a name

using Shapes = std::vector<TensorSpec>;

// "1x3x224x224" is of the only input; its name is empty until the model is known.
Shapes shapes_of(std::string_view text) {
  const bool unnamed = !text.empty() && text.find_first_not_of("0123456789x") == std::string_view::npos;
  if (!unnamed) return parse_shapes(text);
  auto shapes = parse_shapes(fmt::format("{}:{}", kUnnamed, text));
  shapes.front().name.clear();
  return shapes;
}

// One list of shapes per profile.
std::vector<Shapes> lists_of(const Settings& s, const char* name) {
  std::vector<Shapes> lists;
  if (!s.has(name)) return lists;
  for (const auto& text : split(s.text(name), ';')) lists.push_back(shapes_of(trim(text)));
  return lists;
}

const Shape* shape_of(const Shapes& shapes, const std::string& input) {
  const auto it = std::find_if(shapes.begin(), shapes.end(), [&](const auto& s) { return s.name == input; });
  return it == shapes.end() ? nullptr : &it->shape;
}

void check_names(const char* name, const Shapes& shapes, const Shapes& opt) {
  for (const auto& spec : shapes)
    if (!shape_of(opt, spec.name))
      throw Error(
          ErrorCode::kUsage,
          spec.name.empty()
              ? fmt::format("{} names no input, and opt_shapes does; write both in the same way", name)
              : fmt::format("{} names '{}', and opt_shapes does not; give its opt shape too", name,
                            spec.name));
}

void check_order(const ShapeRange& r) {
  const bool ranks = r.min.size() == r.opt.size() && r.opt.size() == r.max.size();
  for (std::size_t i = 0; ranks && i < r.opt.size(); ++i)
    if (r.min[i] > r.opt[i] || r.opt[i] > r.max[i])
      throw Error(
          ErrorCode::kUsage,
          fmt::format(
              "shapes of '{}': dimension {} is {} in min, {} in opt and {} in max; they must not fall",
              r.input, i, r.min[i], r.opt[i], r.max[i]));
  if (!ranks)
    throw Error(ErrorCode::kUsage,
                fmt::format("shapes of '{}' have {}, {} and {} dimensions in min, opt and max", r.input,
                            r.min.size(), r.opt.size(), r.max.size()));
}

// A shape without a name is of the input that the others name, where that is one.
void share_name(Shapes& one, Shapes& other) {
  if (one.size() != 1 || other.size() != 1) return;
  if (one.front().name.empty()) one.front().name = other.front().name;
  if (other.front().name.empty()) other.front().name = one.front().name;
}

ShapeProfile profile_of(Shapes min, Shapes opt, Shapes max) {
  for (Shapes* bound : {&min, &max, &min}) share_name(*bound, opt);
  check_names(kMin, min, opt);
  check_names(kMax, max, opt);
  ShapeProfile profile;
  for (const auto& spec : opt) {
    const auto* lower = shape_of(min, spec.name);
    const auto* upper = shape_of(max, spec.name);
    profile.push_back({spec.name, lower ? *lower : spec.shape, spec.shape, upper ? *upper : spec.shape});
    check_order(profile.back());
  }
  return profile;
}

Shape with_batch(const TensorSpec& input, std::int64_t batch) {
  Shape shape = input.shape;
  if (!shape.empty() && shape.front() < 0) shape.front() = batch;
  if (std::any_of(shape.begin(), shape.end(), [](auto extent) { return extent < 0; }))
    throw Error(ErrorCode::kUsage,
                fmt::format("input '{}' [{}] has a free dimension besides the batch; give --opt-shapes {}:…",
                            input.name, shape_text(input.shape), input.name));
  return shape;
}

void check_fits(const ShapeRange& range, const TensorSpec& input) {
  const auto fits = [&](const Shape& shape) {
    bool same = shape.size() == input.shape.size();
    for (std::size_t i = 0; same && i < shape.size(); ++i)
      same = input.shape[i] < 0 || input.shape[i] == shape[i];
    return same;
  };
  for (const auto& [name, shape] : {std::pair{kMin, &range.min}, {kOpt, &range.opt}, {kMax, &range.max}})
    if (!fits(*shape))
      throw Error(ErrorCode::kUsage, fmt::format("{} of '{}' is {}, and the model's input is [{}]", name,
                                                 input.name, shape_text(*shape), shape_text(input.shape)));
}

ShapeProfile complete(const ShapeProfile& given, std::span<const TensorSpec> inputs, std::int64_t batch) {
  ShapeProfile profile;
  for (const auto& input : inputs) {
    const auto it = std::find_if(given.begin(), given.end(),
                                 [&](const auto& range) { return range.input == input.name; });
    if (it != given.end()) {
      check_fits(*it, input);
      profile.push_back(*it);
      continue;
    }
    const auto shape = with_batch(input, batch);
    profile.push_back({input.name, shape, shape, shape});
  }
  return profile;
}

std::vector<std::string> names_of(std::span<const TensorSpec> inputs) {
  std::vector<std::string> names;
  for (const auto& input : inputs) names.push_back(input.name);
  return names;
}

// A shape without a name belongs to the only input.
void name_shapes(ShapeProfile& given, std::span<const TensorSpec> inputs) {
  for (auto& range : given) {
    if (!range.input.empty()) continue;
    if (inputs.size() != 1)
      throw Error(ErrorCode::kUsage,
                  fmt::format("the shape {} names no input, and the model has {}: {}; write {}:{}",
                              shape_text(range.opt), inputs.size(), join(names_of(inputs), ", "),
                              inputs.empty() ? kUnnamed : inputs.front().name, shape_text(range.opt)));
    range.input = inputs.front().name;
  }
}

void check_inputs_exist(const ShapeProfile& given, std::span<const TensorSpec> inputs) {
  const auto names = names_of(inputs);
  for (const auto& range : given)
    if (std::find(names.begin(), names.end(), range.input) == names.end())
      throw Error(ErrorCode::kUsage, fmt::format("the model has no input '{}'; its inputs are: {}",
                                                 range.input, join(names, ", ")));
}

}  // namespace

std::vector<ShapeProfile> shape_profiles(const Settings& s) try {
  const auto min = lists_of(s, kMin), opt = lists_of(s, kOpt), max = lists_of(s, kMax);
  if (opt.empty() && !(min.empty() && max.empty()))
    throw Error(ErrorCode::kUsage,
                "min_shapes and max_shapes need opt_shapes, the shapes the engine is tuned for");
  for (const auto& [name, lists] : {std::pair{kMin, &min}, {kMax, &max}})
    if (!lists->empty() && lists->size() != opt.size())
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} has {} profiles and opt_shapes has {}", name, lists->size(), opt.size()));
  std::vector<ShapeProfile> profiles;
  for (std::size_t i = 0; i < opt.size(); ++i)
    profiles.push_back(profile_of(min.empty() ? Shapes{} : min[i], opt[i], max.empty() ? Shapes{} : max[i]));
  return profiles;
} catch (const Error& error) {
  throw Error(ErrorCode::kUsage, error.what());
}

std::vector<ShapeProfile> complete_profiles(std::vector<ShapeProfile> given,
                                            std::span<const TensorSpec> inputs, std::int64_t batch) {
  if (given.empty()) given.emplace_back();
  for (auto& profile : given) {
    name_shapes(profile, inputs);
    check_inputs_exist(profile, inputs);
    profile = complete(profile, inputs, batch);
  }
  return given;
}

std::string shape_text(const Shape& shape) {
  std::vector<std::string> extents;
  for (const auto extent : shape) extents.push_back(extent < 0 ? "N" : std::to_string(extent));
  return join(extents, "x");
}

std::string range_text(const ShapeRange& r) {
  if (r.min == r.max) return fmt::format("{}:{}", r.input, shape_text(r.opt));
  return fmt::format("{}:{}…{} (tuned for {})", r.input, shape_text(r.min), shape_text(r.max),
                     shape_text(r.opt));
}

}  // namespace paceline::config
