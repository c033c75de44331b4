// SPDX-License-Identifier: MIT
#include "tensorrt/build_options.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "support/engine_checks.h"
#include "tensorrt/gpu.h"
#include "tensorrt/tensors.h"

namespace paceline::tensorrt_plugin {
namespace {

using nvinfer1::BuilderFlag;
using nvinfer1::MemoryPoolType;

constexpr const char* kWorkspace = "workspace";
constexpr const char* kDla = "dla";
constexpr const char* kTimingCache = "timing_cache";
constexpr std::array<std::string_view, 4> kBuildOptions{kWorkspace, kDla, kTimingCache, kDeviceOption};
// The file determines the types; of the precisions only TF32 is a switch.
constexpr std::array<std::string_view, 4> kBuildPrecisions{"fp32", "tf32", "fp16", "int8"};

std::int64_t number_option(const std::map<std::string, std::string>& options, const char* name,
                           std::int64_t fallback) {
  const auto it = options.find(name);
  if (it == options.end()) return fallback;
  const auto value = parse_int(it->second);
  if (!value || *value < 0)
    throw Error(ErrorCode::kUsage,
                fmt::format("option {} is '{}'; it takes a number from 0 on", name, it->second));
  return *value;
}

void choose_dla(int core, const nvinfer1::IBuilder& builder, nvinfer1::IBuilderConfig& config) {
  const int cores = builder.getNbDLACores();
  if (core >= cores)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("dla {}: {}; leave it out to build for the GPU", core,
                            cores == 0 ? "there is no DLA here, or this version of the library has none"
                                       : fmt::format("there are {} cores, numbered from 0", cores)));
  config.setDefaultDeviceType(nvinfer1::DeviceType::kDLA);
  config.setDLACore(core);
  config.setFlag(BuilderFlag::kGPU_FALLBACK);
}

void set_range(nvinfer1::IOptimizationProfile& profile, const ShapeRange& range) {
  const char* name = range.input.c_str();
  using nvinfer1::OptProfileSelector;
  if (!profile.setDimensions(name, OptProfileSelector::kMIN, to_dims(range.min)) ||
      !profile.setDimensions(name, OptProfileSelector::kOPT, to_dims(range.opt)) ||
      !profile.setDimensions(name, OptProfileSelector::kMAX, to_dims(range.max)))
    throw Error(ErrorCode::kUsage, fmt::format("the shapes of input '{}' do not make a range", range.input));
}

const char* on_off(bool on) {
  return on ? "on" : "off";
}

}  // namespace

BuildOptions read_build_options(const plugin::BuildSettings& settings) {
  plugin::EngineSettings as_engine;
  as_engine.precision = settings.precision;
  plugin_support::check_settings(as_engine, "tensorrt", kBuildPrecisions);
  plugin_support::check_options(settings.options, "tensorrt", kBuildOptions);
  BuildOptions options;
  options.tf32 = settings.precision == "tf32";
  options.workspace_bytes = number_option(settings.options, kWorkspace, options.workspace_bytes);
  options.dla_core = static_cast<int>(number_option(settings.options, kDla, options.dla_core));
  if (const auto it = settings.options.find(kTimingCache); it != settings.options.end())
    options.timing_cache = it->second;
  if (const auto it = settings.options.find(kDeviceOption); it != settings.options.end())
    options.device = it->second;
  return options;
}

void apply(const BuildOptions& options, const nvinfer1::IBuilder& builder, nvinfer1::IBuilderConfig& config) {
  // TF32 is on by default, so "fp32" must switch it off: it would round products.
  if (options.tf32)
    config.setFlag(BuilderFlag::kTF32);
  else
    config.clearFlag(BuilderFlag::kTF32);
  if (options.workspace_bytes > 0)
    config.setMemoryPoolLimit(MemoryPoolType::kWORKSPACE, static_cast<std::size_t>(options.workspace_bytes));
  if (options.dla_core >= 0) choose_dla(options.dla_core, builder, config);
  // Without it a plan cannot tell the precision of its layers.
  config.setProfilingVerbosity(nvinfer1::ProfilingVerbosity::kDETAILED);
}

void add_profiles(const std::vector<ShapeProfile>& profiles, nvinfer1::IBuilder& builder,
                  nvinfer1::IBuilderConfig& config) {
  for (const auto& shapes : profiles) {
    auto* profile = builder.createOptimizationProfile();  // owned by the builder
    for (const auto& range : shapes) set_range(*profile, range);
    if (config.addOptimizationProfile(profile) < 0)
      throw Error(ErrorCode::kUsage, "the library refuses these shapes: min <= opt <= max must hold");
  }
}

std::vector<std::pair<std::string, std::string>> effective_settings(const nvinfer1::IBuilderConfig& config) {
  const bool dla = config.getDefaultDeviceType() == nvinfer1::DeviceType::kDLA;
  return {{"tf32", on_off(config.getFlag(BuilderFlag::kTF32))},
          {"workspace_limit_bytes", std::to_string(config.getMemoryPoolLimit(MemoryPoolType::kWORKSPACE))},
          {"device", dla ? fmt::format("DLA core {}, the rest on the GPU", config.getDLACore()) : "GPU"},
          {"profiles", std::to_string(config.getNbOptimizationProfiles())},
          {"profiling_verbosity",
           config.getProfilingVerbosity() == nvinfer1::ProfilingVerbosity::kDETAILED ? "detailed" : "other"}};
}

}  // namespace paceline::tensorrt_plugin
