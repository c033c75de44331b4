// SPDX-License-Identifier: MIT
#include "support/engine_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/display_text.h"
#include "base/error.h"
#include "base/lower_case.h"
#include "base/model_content.h"

namespace paceline::plugin_support {
namespace {

bool has(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool same_dimensions(const DeclaredInput& declared, const TensorSpec& given) {
  const auto fits = [](const std::string& size, std::int64_t asked) {
    const bool fixed = size.find_first_not_of("0123456789") == std::string::npos;
    return !fixed || size == std::to_string(asked);
  };
  return std::equal(declared.shape.begin(), declared.shape.end(), given.shape.begin(), given.shape.end(),
                    fits);
}

bool fits(const Shape& given, const Shape& loaded, const plugin::ModelSpec& model) {
  if (given.size() != loaded.size()) return false;
  const std::size_t open = model.any_shape ? given.size() : model.any_batch ? 1 : 0;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] != loaded[i] && (i >= open || given[i] < 1 || given[i] > loaded[i])) return false;
  return true;
}

std::string names_of(std::span<const DeclaredInput> declared) {
  std::vector<std::string> words;
  for (const auto& input : declared) words.push_back(describe(input));
  return fmt::format("{}", fmt::join(words, ", "));
}

const Advice* find_advice(std::string_view reason, std::span<const Advice> rows) {
  const auto row = std::ranges::find_if(
      rows, [&](const Advice& r) { return reason.find(r.part) != std::string_view::npos; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

std::string model_file(const plugin::ModelSpec& model, std::string_view engine,
                       std::span<const std::string_view> suffixes) {
  if (model.file.empty())
    throw Error(ErrorCode::kUnsupported,
                fmt::format("engine {} reads model files ({}), and '{}' is a built-in model without one",
                            engine, fmt::join(suffixes, ", "), model.name));
  if (const auto why = no_model_file(model.file))
    throw Error(ErrorCode::kData, fmt::format("model '{}' {}", shown_path(model.file), *why));
  if (!has(suffixes, model_suffix(model.file)))
    throw Error(ErrorCode::kUnsupported, fmt::format("engine {} reads {} files, not '{}'", engine,
                                                     fmt::join(suffixes, " and "), model.file));
  return model.file;
}

void check_settings(const plugin::EngineSettings& settings, std::string_view engine,
                    std::span<const std::string_view> precisions) {
  if (!has(precisions, settings.precision))
    throw Error(ErrorCode::kUnsupported, fmt::format("engine {} has no precision '{}'; there are: {}", engine,
                                                     settings.precision, fmt::join(precisions, ", ")));
  if (settings.layout != "contiguous")
    throw Error(ErrorCode::kUnsupported,
                fmt::format("engine {} chooses memory layouts itself; leave out layout '{}'", engine,
                            settings.layout));
}

void check_options(const std::map<std::string, std::string>& options, std::string_view engine,
                   std::span<const std::string_view> known) {
  for (const auto& [name, value] : options)
    if (!has(known, name))
      throw Error(ErrorCode::kUsage, fmt::format("engine {} has no option '{}'; there are: {}", engine, name,
                                                 fmt::join(known, ", ")));
}

bool boolean_option(const std::map<std::string, std::string>& options, const std::string& name,
                    bool fallback) {
  const auto it = options.find(name);
  if (it == options.end()) return fallback;
  if (it->second != "true" && it->second != "false")
    throw Error(ErrorCode::kUsage,
                fmt::format("option {} is '{}'; it takes true or false", name, it->second));
  return it->second == "true";
}

int count_option(const std::map<std::string, std::string>& options, const std::string& name, int fallback) {
  const auto it = options.find(name);
  if (it == options.end()) return fallback;
  int value = 0;
  const auto* end = it->second.data() + it->second.size();
  const auto [rest, error] = std::from_chars(it->second.data(), end, value);
  if (error != std::errc() || rest != end || value < 1)
    throw Error(ErrorCode::kUsage,
                fmt::format("option {} is '{}'; it takes a number from 1 on", name, it->second));
  return value;
}

std::string describe(const DeclaredInput& input) {
  return fmt::format("'{}' {} [{}]", input.name, input.type, fmt::join(input.shape, ","));
}

std::string describe(const TensorSpec& spec) {
  return fmt::format("'{}' {} [{}]", spec.name, dtype_name(spec.dtype), fmt::join(spec.shape, ","));
}

std::string dimension_text(std::int64_t size, std::string_view symbol) {
  if (size >= 0) return std::to_string(size);
  return symbol.empty() ? "?" : std::string(symbol);
}

void check_inputs(std::string_view file, std::span<const DeclaredInput> declared,
                  std::span<const TensorSpec> given) {
  for (const auto& spec : given) {
    const auto it = std::find_if(declared.begin(), declared.end(),
                                 [&](const DeclaredInput& d) { return d.name == spec.name; });
    if (it == declared.end())
      throw Error(ErrorCode::kUsage, fmt::format("model '{}' has no input '{}'; its inputs are: {}", file,
                                                 spec.name, names_of(declared)));
    if (it->type != dtype_name(spec.dtype) || !same_dimensions(*it, spec))
      throw Error(ErrorCode::kUsage,
                  fmt::format("model '{}' expects input {}, given {}", file, describe(*it), describe(spec)));
  }
  for (const auto& input : declared)
    if (std::none_of(given.begin(), given.end(), [&](const TensorSpec& s) { return s.name == input.name; }))
      throw Error(ErrorCode::kUsage,
                  fmt::format("model '{}' also expects input {}; give its shape too", file, describe(input)));
}

void check_outputs(std::string_view file, std::size_t count, bool any_numbers) {
  if (count == 0)
    throw Error(
        ErrorCode::kData,
        fmt::format(
            "model '{}' names no outputs, so there is nothing to compute; export it again with its outputs",
            file));
  if (!any_numbers)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("model '{}' has no output that is a tensor of numbers", file));
}

void check_tensor(const TensorView& view, const TensorSpec& spec, const plugin::ModelSpec& model) {
  const TensorSpec given{view.name, view.dtype, view.shape};
  if (view.name != spec.name || view.dtype != spec.dtype || !fits(view.shape, spec.shape, model))
    throw Error(ErrorCode::kUsage, fmt::format("input {} was given, the model was loaded for {}",
                                               describe(given), describe(spec)));
  if (!view.strides.empty() || view.device.kind != DeviceKind::kCpu)
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("input {} has strides or lies on a device; this engine reads contiguous host memory",
                    describe(given)));
}

namespace {

// The first input with a word in its name and this number of dimensions; null: none.
const TensorSpec* find_input(std::span<const TensorSpec> inputs, std::string_view word, std::size_t rank) {
  const auto it = std::find_if(inputs.begin(), inputs.end(), [&](const TensorSpec& input) {
    return lower_case(input.name).find(word) != std::string::npos && input.shape.size() == rank;
  });
  return it == inputs.end() ? nullptr : &*it;
}

}  // namespace

std::string cannot_run(std::span<const TensorSpec> inputs) {
  const auto *mask = find_input(inputs, "mask", 2), *past = find_input(inputs, "past", 4),
             *ids = find_input(inputs, "ids", 2);
  if (!mask || !past || !ids) return std::string(kCannotRun);
  const auto length = past->shape[2] + ids->shape[1];
  if (mask->shape[1] == length) return std::string(kCannotRun);
  return fmt::format(
      "{}: '{}' has the length {}, and past ({}) and new tokens ({}) need {}; write --shapes '{}:{}x{}:{}'",
      kCannotRun, mask->name, mask->shape[1], past->shape[2], ids->shape[1], length, mask->name,
      mask->shape[0], length, dtype_name(mask->dtype));
}

bool advises_unsupported(std::string_view reason, std::span<const Advice> rows) {
  const auto* row = find_advice(reason, rows);
  return row && row->unsupported;
}

std::string with_advice(std::string reason, std::span<const Advice> rows) {
  const auto* row = find_advice(reason, rows);
  if (!row) return reason;
  while (reason.ends_with('.') || reason.ends_with('!') || reason.ends_with(' ')) reason.pop_back();
  return fmt::format("{}; {}", reason, row->advice);
}

}  // namespace paceline::plugin_support
