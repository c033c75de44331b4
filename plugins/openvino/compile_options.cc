// SPDX-License-Identifier: MIT
#include "openvino/compile_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <openvino/runtime/properties.hpp>
#include <string_view>

#include "base/error.h"
#include "support/engine_checks.h"

namespace paceline::openvino_plugin {
namespace {

constexpr const char* kNumStreams = "num_streams";
constexpr const char* kCpuPinning = "cpu_pinning";
constexpr const char* kGroupSize = "dynamic_quantization_group_size";  // of activations; 0: they stay float
constexpr std::array<std::string_view, 2> kOptions{kNumStreams, kCpuPinning};

struct PrecisionRow {
  std::string_view name;
  ov::element::Type_t type;     // of everything that the file does not quantise
  std::string_view capability;  // what the device must support; empty: nothing. f16 is left to the read-back
};
constexpr std::array kPrecisions{
    PrecisionRow{"fp32", ov::element::Type_t::f32, ""},
    PrecisionRow{"bf16", ov::element::Type_t::bf16, "BF16"},
    PrecisionRow{"fp16", ov::element::Type_t::f16, ""},
    PrecisionRow{"int8", ov::element::Type_t::f32, "INT8"},
};
constexpr auto kPrecisionNames = [] {
  std::array<std::string_view, kPrecisions.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kPrecisions[i].name;
  return names;
}();

ov::element::Type inference_precision(ov::Core& core, const std::string& precision) {
  const auto row = std::find_if(kPrecisions.begin(), kPrecisions.end(),
                                [&](const PrecisionRow& r) { return r.name == precision; });
  const auto has = core.get_property(kDevice, ov::device::capabilities);
  if (!row->capability.empty() && std::find(has.begin(), has.end(), row->capability) == has.end())
    throw Error(ErrorCode::kUnsupported,
                fmt::format("OpenVINO has no {} on this CPU; it has: {}", precision, fmt::join(has, ", ")));
  return row->type;
}

// By default OpenVINO may round activations and the keys and values of attention to 8 bits.
void keep_activations(ov::AnyMap& options) {
  options.insert(ov::hint::dynamic_quantization_group_size(0));
  options.insert(ov::hint::kv_cache_precision(ov::element::f32));
}

struct Reported {
  const char* name;      // in results
  const char* property;  // OpenVINO's
};
constexpr Reported kReported[] = {
    {"threads", "INFERENCE_NUM_THREADS"},
    {"inference_precision", "INFERENCE_PRECISION_HINT"},
    {"num_streams", "NUM_STREAMS"},
    {"cpu_pinning", "ENABLE_CPU_PINNING"},
    {"hyper_threading", "ENABLE_HYPER_THREADING"},
    {"scheduling_core_type", "SCHEDULING_CORE_TYPE"},
    {"performance_hint", "PERFORMANCE_HINT"},
    {"execution_mode", "EXECUTION_MODE_HINT"},
    {"device", "EXECUTION_DEVICES"},
    {kGroupSize, "DYNAMIC_QUANTIZATION_GROUP_SIZE"},
    {"kv_cache_precision", "KV_CACHE_PRECISION"},
};

}  // namespace

ov::AnyMap compile_options(ov::Core& core, const plugin::EngineSettings& settings) {
  plugin_support::check_settings(settings, "openvino", kPrecisionNames);
  plugin_support::check_options(settings.options, "openvino", kOptions);
  ov::AnyMap options{
      ov::hint::inference_precision(inference_precision(core, settings.precision)),
      ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY),
      ov::inference_num_threads(std::max(settings.threads, 1)),
      ov::num_streams(plugin_support::count_option(settings.options, kNumStreams, 1)),
  };
  if (settings.precision == "fp32" && !settings.precision_of_file) keep_activations(options);
  if (settings.options.count(kCpuPinning))
    options.insert(
        ov::hint::enable_cpu_pinning(plugin_support::boolean_option(settings.options, kCpuPinning, true)));
  return options;
}

ov::AnyMap without_rounding(ov::AnyMap options) {
  keep_activations(options);
  return options;
}

std::vector<std::pair<std::string, std::string>> effective_settings(const ov::CompiledModel& model) {
  const auto known = model.get_property(ov::supported_properties);
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& row : kReported)
    if (std::find(known.begin(), known.end(), row.property) != known.end())
      settings.emplace_back(row.name, model.get_property(row.property).as<std::string>());
  return settings;
}

bool has_rounding(const ov::CompiledModel& model) {
  const auto settings = effective_settings(model);
  return std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
    return setting.first == kGroupSize && setting.second != "0";
  });
}

}  // namespace paceline::openvino_plugin
