// SPDX-License-Identifier: MIT
// Reads inputs, outputs and profiles of a plan, and finds the profile that holds a shape.
#pragma once
#include <NvInfer.h>

#include <span>
#include <string>
#include <vector>

#include "base/shape_range.h"
#include "base/tensor.h"
#include "support/engine_checks.h"

namespace paceline::tensorrt_plugin {

// Inputs that a plan needs; a dimension that its profiles leave open is "?".
std::vector<plugin_support::DeclaredInput> declared_inputs(const nvinfer1::ICudaEngine& engine);

// An output of a type that has a counterpart here. Throws Error(kUnsupported) for others.
struct PlanOutput {
  std::string name;
  DType dtype;
  bool on_host;
};
std::vector<PlanOutput> plan_outputs(const nvinfer1::ICudaEngine& engine);

// Whether the library reads or writes a tensor in host memory, as it does with tensors that hold shapes.
bool is_on_host(const nvinfer1::ICudaEngine& engine, const std::string& name);

// The shapes that each profile of a plan accepts.
std::vector<ShapeProfile> plan_profiles(const nvinfer1::ICudaEngine& engine);

// The first profile that holds these shapes. Throws Error(kUsage) naming the profiles when none does.
int fitting_profile(const std::vector<ShapeProfile>& profiles, std::span<const TensorSpec> inputs);

}  // namespace paceline::tensorrt_plugin
