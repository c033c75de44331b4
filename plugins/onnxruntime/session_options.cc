// SPDX-License-Identifier: MIT
#include "onnxruntime/session_options.h"

#include <fmt/format.h>
#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/model_content.h"
#include "onnx/declared_inputs.h"
#include "onnxruntime/few_bits.h"
#include "onnxruntime/providers.h"
#include "support/engine_checks.h"

namespace paceline::ort_plugin {
namespace {

constexpr const char* kGraphOptimization = "graph_optimization";
constexpr const char* kInterOpThreads = "inter_op_threads";
constexpr const char* kAllowSpinning = "allow_spinning";
constexpr const char* kArena = "arena";
constexpr std::array<std::string_view, 8> kOptions{
    kGraphOptimization, kInterOpThreads, kAllowSpinning, kArena, kProvider, kAllowCpu, kDevice, kIo};

struct Level {
  std::string_view name;
  GraphOptimizationLevel level;
};
constexpr std::array kLevels{Level{"all", ORT_ENABLE_ALL}, Level{"extended", ORT_ENABLE_EXTENDED},
                             Level{"basic", ORT_ENABLE_BASIC}, Level{"disabled", ORT_DISABLE_ALL}};

const Level& optimization_level(const plugin::EngineSettings& settings) {
  const auto it = settings.options.find(kGraphOptimization);
  if (it == settings.options.end()) return kLevels.front();
  const auto row = std::find_if(kLevels.begin(), kLevels.end(),
                                [&](const Level& level) { return level.name == it->second; });
  if (row == kLevels.end())
    throw Error(ErrorCode::kUsage, fmt::format("option {} is '{}'; it takes all, extended, basic or disabled",
                                               kGraphOptimization, it->second));
  return *row;
}

}  // namespace

Ort::SessionOptions session_options(const std::string& file, const plugin::ModelSpec& model,
                                    const plugin::EngineSettings& settings) {
  plugin_support::check_options(settings.options, "onnxruntime", kOptions);
  const int inter_op = plugin_support::count_option(settings.options, kInterOpThreads, 1);
  const bool spinning = plugin_support::boolean_option(settings.options, kAllowSpinning, true);
  Ort::SessionOptions options;
  if (model_suffix(file) == ".ort") options.AddConfigEntry(kOrtSessionOptionsConfigLoadModelFormat, "ORT");
  options.SetIntraOpNumThreads(settings.threads);
  options.SetInterOpNumThreads(inter_op);
  options.SetExecutionMode(inter_op > 1 ? ORT_PARALLEL : ORT_SEQUENTIAL);
  options.SetGraphOptimizationLevel(optimization_level(settings).level);
  for (const char* key :
       {kOrtSessionOptionsConfigAllowIntraOpSpinning, kOrtSessionOptionsConfigAllowInterOpSpinning})
    options.AddConfigEntry(key, spinning ? "1" : "0");
  if (plugin_support::boolean_option(settings.options, kArena, true))
    options.EnableCpuMemArena();
  else
    options.DisableCpuMemArena();
  if (model_suffix(file) == ".onnx" && !model.any_shape)
    for (const auto& [symbol, size] : onnx::symbol_sizes(file, model.inputs, model.any_batch))
      Ort::ThrowOnError(Ort::GetApi().AddFreeDimensionOverrideByName(options, symbol.c_str(), size));
  append_provider(options, choose_provider(settings));
  if (keeps_activations(settings)) keep_activations(options);
  return options;
}

std::vector<std::pair<std::string, std::string>> option_texts(const plugin::EngineSettings& settings) {
  const int inter_op = plugin_support::count_option(settings.options, kInterOpThreads, 1);
  const auto on_off = [&](const char* name) {
    return plugin_support::boolean_option(settings.options, name, true) ? "true" : "false";
  };
  return {{kGraphOptimization, std::string(optimization_level(settings).name)},
          {kInterOpThreads, std::to_string(inter_op)},
          {"execution_mode", inter_op > 1 ? "parallel" : "sequential"},
          {kAllowSpinning, on_off(kAllowSpinning)},
          {kArena, on_off(kArena)}};
}

}  // namespace paceline::ort_plugin
