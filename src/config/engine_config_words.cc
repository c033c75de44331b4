// SPDX-License-Identifier: MIT
#include "config/engine_config_words.h"

#include <algorithm>
#include <array>

namespace paceline::config {
namespace {

using Json = nlohmann::json;
using Entries = std::vector<EngineConfigEntry>;

struct Word {
  std::string_view key, option;
  std::string_view suffix{};  // appended to a number
};
// A megabyte of workspace is 2^20 bytes, as in TensorRT's own tools.
constexpr std::array kWords{
    Word{"onnx_file", "model"},
    Word{"onnx_path", "model"},
    Word{"onnx_model", "model"},
    Word{"model_path", "model"},
    Word{"engine_file", "output"},
    Word{"engine_path", "output"},
    Word{"output_path", "output"},
    Word{"plan_file", "output"},
    Word{"batch_size", "batch"},
    Word{"min_shape", "min_shapes"},
    Word{"opt_shape", "opt_shapes"},
    Word{"max_shape", "max_shapes"},
    Word{"workspace_size", "workspace"},
    Word{"workspace_bytes", "workspace"},
    Word{"max_workspace_size", "workspace"},
    Word{"workspace_mb", "workspace", "M"},
    Word{"workspace_mib", "workspace", "M"},
    Word{"workspace_size_mb", "workspace", "M"},
    Word{"workspace_gb", "workspace", "G"},
    Word{"workspace_gib", "workspace", "G"},
    Word{"workspace_size_gb", "workspace", "G"},
    Word{"calibration_cache", "calib_cache"},
    Word{"int8_calib_cache", "calib_cache"},
    Word{"int8_calibration_cache", "calib_cache"},
    Word{"int8_calib_data", "calib_data"},
    Word{"int8_calib_images", "calib_images"},
    Word{"int8_calib_dir", "calib_images"},
    Word{"input_shape", "opt_shapes"},
    Word{"calibration_data", "calib_data"},
    Word{"calibration_images", "calib_images"},
    Word{"calibration_samples", "quantisation.samples"},
    Word{"calibration_method", "quantisation.method"},
    Word{"calibration.cache", "calib_cache"},
    Word{"calibration.data", "calib_data"},
    Word{"calibration.images", "calib_images"},
    Word{"calibration.samples", "quantisation.samples"},
    Word{"calibration.method", "quantisation.method"},
    Word{"timing_cache_file", "timing_cache"},
};

constexpr std::array kPrecisionSwitches{std::string_view{"fp16"}, std::string_view{"bf16"},
                                        std::string_view{"int8"}, std::string_view{"tf32"},
                                        std::string_view{"fp32"}};
constexpr std::array kDlaKeys{std::string_view{"dla"}, std::string_view{"dla_core"},
                              std::string_view{"use_dla_core"}, std::string_view{"useDLACore"}};
constexpr std::array kBounds{std::string_view{"min"}, std::string_view{"opt"}, std::string_view{"max"}};
constexpr std::array kShapeKeys{std::string_view{"shapes"}, std::string_view{"input_shapes"},
                                std::string_view{"inputs"}, std::string_view{"profile"},
                                std::string_view{"optimization_profile"}};

template <std::size_t N>
bool is_one_of(std::string_view key, const std::array<std::string_view, N>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// {"min": …, "opt": …, "max": …}, or part of it.
bool has_bounds(const Json& value) {
  if (!value.is_object() || value.empty()) return false;
  for (const auto& [key, ignored] : value.items())
    if (!is_one_of(key, kBounds)) return false;
  return true;
}

bool every_value_has_bounds(const Json& value) {
  return value.is_object() && !value.empty() && std::all_of(value.begin(), value.end(), has_bounds);
}

// Reads {"input": {"min": […], "max": […]}} and {"min": {"input": […]}} alike.
std::optional<Entries> shapes_of(const Json& value) {
  Json bounds = Json::object();
  if (has_bounds(value)) {
    bounds = value;
  } else if (every_value_has_bounds(value)) {
    for (const auto& [input, own] : value.items())
      for (const auto& [bound, dims] : own.items()) bounds[bound][input] = dims;
  } else {
    return std::nullopt;
  }
  Entries entries;
  for (const auto& [bound, map] : bounds.items()) entries.push_back({bound + "_shapes", map});
  return entries;
}

bool asks_for_nothing(std::string_view key, const Json& value) {
  if (value.is_null()) return true;
  if (value == "") return std::ranges::any_of(kWords, [&](const Word& word) { return word.key == key; });
  return is_one_of(key, kDlaKeys) && value.is_number_integer() && value == -1;
}

Json with_suffix(const Json& value, std::string_view suffix) {
  if (suffix.empty() || !value.is_number_integer()) return value;
  return value.dump() + std::string(suffix);
}

}  // namespace

std::optional<Entries> translated_entry(std::string_view key, const Json& value) {
  if (asks_for_nothing(key, value)) return Entries{};
  if (is_one_of(key, kPrecisionSwitches) && value.is_boolean())
    return value.get<bool>() ? Entries{{"precision", std::string(key)}} : Entries{};
  if (is_one_of(key, kShapeKeys))
    if (auto shapes = shapes_of(value)) return shapes;
  if (is_one_of(key, kDlaKeys)) return Entries{{"dla", value}};
  for (const auto& word : kWords)
    if (word.key == key) return Entries{{std::string(word.option), with_suffix(value, word.suffix)}};
  return std::nullopt;
}

}  // namespace paceline::config
