// SPDX-License-Identifier: MIT
// Turns options and shapes into TensorRT's builder configuration, and reads them back.
#pragma once
#include <NvInfer.h>

#include <string>
#include <utility>
#include <vector>

#include "plugin/builder.h"

namespace paceline::tensorrt_plugin {

// The options, checked before anything is opened.
struct BuildOptions {
  bool tf32 = false;
  std::int64_t workspace_bytes = 0;  // 0: the library's own limit, which is all of the device's memory
  int dla_core = -1;                 // -1: the GPU
  std::string timing_cache;          // a file; empty: none
  std::string device;  // the device whose kernels are timed: "cuda:1"; empty: the library's choice
};

// Error(kUnsupported) for a precision that models cannot have here, Error(kUsage) for an unknown option or
// value.
BuildOptions read_build_options(const plugin::BuildSettings& settings);

// Throws Error(kUnsupported) for a DLA core that this machine or this version does not have.
void apply(const BuildOptions& options, const nvinfer1::IBuilder& builder, nvinfer1::IBuilderConfig& config);

// Adds one optimisation profile each. Throws Error(kUsage) for a range that the library refuses.
void add_profiles(const std::vector<ShapeProfile>& profiles, nvinfer1::IBuilder& builder,
                  nvinfer1::IBuilderConfig& config);

// The settings as the configuration reports them.
std::vector<std::pair<std::string, std::string>> effective_settings(const nvinfer1::IBuilderConfig& config);

}  // namespace paceline::tensorrt_plugin
