// SPDX-License-Identifier: MIT
#include "tensorrt/plan_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "tensorrt/tensors.h"

namespace paceline::tensorrt_plugin {
namespace {

using nvinfer1::OptProfileSelector;
using nvinfer1::TensorIOMode;

std::vector<std::string> names_of(const nvinfer1::ICudaEngine& engine, TensorIOMode mode) {
  std::vector<std::string> names;
  for (int i = 0; i < engine.getNbIOTensors(); ++i)
    if (const char* name = engine.getIOTensorName(i); engine.getTensorIOMode(name) == mode)
      names.emplace_back(name);
  return names;
}

bool holds(const ShapeRange& range, const Shape& shape) {
  bool inside = shape.size() == range.min.size();
  for (std::size_t i = 0; inside && i < shape.size(); ++i)
    inside = range.min[i] <= shape[i] && shape[i] <= range.max[i];
  return inside;
}

bool holds(const ShapeProfile& profile, std::span<const TensorSpec> inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [&](const TensorSpec& input) {
    return std::any_of(profile.begin(), profile.end(), [&](const ShapeRange& range) {
      return range.input == input.name && holds(range, input.shape);
    });
  });
}

std::string text_of(const ShapeProfile& profile) {
  std::vector<std::string> words;
  for (const auto& range : profile)
    words.push_back(
        fmt::format("'{}' [{}] to [{}]", range.input, fmt::join(range.min, ","), fmt::join(range.max, ",")));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::vector<plugin_support::DeclaredInput> declared_inputs(const nvinfer1::ICudaEngine& engine) {
  std::vector<plugin_support::DeclaredInput> inputs;
  for (const auto& name : names_of(engine, TensorIOMode::kINPUT)) {
    auto& input = inputs.emplace_back();
    input.name = name;
    input.type = type_name(engine.getTensorDataType(name.c_str()));
    for (const auto size : from_dims(engine.getTensorShape(name.c_str())))
      input.shape.push_back(plugin_support::dimension_text(size, ""));
  }
  return inputs;
}

std::vector<PlanOutput> plan_outputs(const nvinfer1::ICudaEngine& engine) {
  std::vector<PlanOutput> outputs;
  for (const auto& name : names_of(engine, TensorIOMode::kOUTPUT)) {
    const auto dtype = from_tensorrt(engine.getTensorDataType(name.c_str()));
    if (!dtype)
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("output '{}' has a type that tensors here do not have", name));
    outputs.push_back({name, *dtype, is_on_host(engine, name)});
  }
  return outputs;
}

bool is_on_host(const nvinfer1::ICudaEngine& engine, const std::string& name) {
  return engine.getTensorLocation(name.c_str()) == nvinfer1::TensorLocation::kHOST;
}

std::vector<ShapeProfile> plan_profiles(const nvinfer1::ICudaEngine& engine) {
  std::vector<ShapeProfile> profiles;
  for (int i = 0; i < engine.getNbOptimizationProfiles(); ++i) {
    auto& profile = profiles.emplace_back();
    for (const auto& name : names_of(engine, TensorIOMode::kINPUT)) {
      const auto shape = [&](OptProfileSelector which) {
        const auto dims = engine.getProfileShape(name.c_str(), i, which);
        // For an input on the host a profile bounds the values and may lack a shape.
        return from_dims(dims.nbDims < 0 ? engine.getTensorShape(name.c_str()) : dims);
      };
      profile.push_back({name, shape(OptProfileSelector::kMIN), shape(OptProfileSelector::kOPT),
                         shape(OptProfileSelector::kMAX)});
    }
  }
  return profiles;
}

int fitting_profile(const std::vector<ShapeProfile>& profiles, std::span<const TensorSpec> inputs) {
  const auto it = std::find_if(profiles.begin(), profiles.end(),
                               [&](const ShapeProfile& profile) { return holds(profile, inputs); });
  if (it != profiles.end()) return static_cast<int>(it - profiles.begin());
  std::vector<std::string> given, built;
  for (const auto& input : inputs) given.push_back(plugin_support::describe(input));
  for (const auto& profile : profiles) built.push_back(text_of(profile));
  throw Error(ErrorCode::kUsage, fmt::format("{} does not fit this plan, which was built for {}",
                                             fmt::join(given, ", "), fmt::join(built, " or ")));
}

}  // namespace paceline::tensorrt_plugin
