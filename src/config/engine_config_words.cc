// SPDX-License-Identifier: MIT
#include "config/engine_config_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/vocabulary.h"

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
// "int8_calibration_cache_path" is "int8_calibration_cache": what stands there is a path in any case.
constexpr std::array kPlaceEndings{std::string_view{"_path"}, std::string_view{"_file"},
                                   std::string_view{"_filename"}};

constexpr std::array kPrecisionSwitches{std::string_view{"fp16"}, std::string_view{"bf16"},
                                        std::string_view{"int8"}, std::string_view{"tf32"},
                                        std::string_view{"fp32"}};
constexpr std::array kDlaKeys{std::string_view{"dla"}, std::string_view{"dla_core"},
                              std::string_view{"use_dla_core"}, std::string_view{"useDLACore"}};
constexpr std::array kDlaSwitches{std::string_view{"use_dla"}, std::string_view{"enable_dla"},
                                  std::string_view{"dla_enabled"}};
constexpr std::array kFallbackKeys{std::string_view{"gpu_fallback"}, std::string_view{"allow_gpu_fallback"},
                                   std::string_view{"dla_allow_gpu_fallback"}};
constexpr std::string_view kMaxBatch = "max_batch_size";
constexpr auto kNoMaxBatch =
    "{0}: an engine here takes the batches of its shapes: write it as the first number of \"max_shapes\", "
    "e.g. "
    "{{\"input\": [{0}, 3, 224, 224]}}, or \"batch\": {0} for that batch alone";
constexpr std::array kBounds{std::string_view{"min"}, std::string_view{"opt"}, std::string_view{"max"}};
constexpr std::array kShapeKeys{std::string_view{"shapes"}, std::string_view{"input_shapes"},
                                std::string_view{"inputs"}, std::string_view{"profile"},
                                std::string_view{"optimization_profile"}};
constexpr std::array kProfileKeys{std::string_view{"profiles"}, std::string_view{"shape_profiles"},
                                  std::string_view{"optimization_profiles"}};
constexpr std::array kInputNameKeys{std::string_view{"input"}, std::string_view{"name"},
                                    std::string_view{"input_name"}, std::string_view{"tensor"}};

template <std::size_t N>
bool is_one_of(std::string_view key, const std::array<std::string_view, N>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// "min" for "min" and "min_shape"; empty for another key.
std::string_view bound_named(std::string_view key) {
  for (const auto ending : {"_shapes", "_shape", "_dims"})
    if (key.ends_with(ending)) key.remove_suffix(std::string_view(ending).size());
  return is_one_of(key, kBounds) ? *std::ranges::find(kBounds, key) : std::string_view();
}

// {"min": …, "opt": …, "max": …}, or part of it.
bool has_bounds(const Json& value) {
  if (!value.is_object() || value.empty()) return false;
  return std::ranges::all_of(value.items(),
                             [](const auto& item) { return !bound_named(item.key()).empty(); });
}

bool every_value_has_bounds(const Json& value) {
  return value.is_object() && !value.empty() && std::all_of(value.begin(), value.end(), has_bounds);
}

// {"min": {"input": […]}} of {"input": {"min": […]}}, or of that itself; null for other values.
Json by_bound(const Json& value) {
  Json bounds;
  if (has_bounds(value)) {
    for (const auto& [bound, map] : value.items()) bounds[bound_named(bound)] = map;
  } else if (every_value_has_bounds(value)) {
    for (const auto& [input, own] : value.items())
      for (const auto& [bound, dims] : own.items()) bounds[bound_named(bound)][input] = dims;
  }
  return bounds;
}

Entries entries_of(const Json& bounds) {
  Entries entries;
  for (const auto& [bound, shapes] : bounds.items()) entries.push_back({bound + "_shapes", shapes});
  return entries;
}

std::optional<Entries> shapes_of(const Json& value) {
  const Json bounds = by_bound(value);
  return bounds.is_null() ? std::nullopt : std::optional(entries_of(bounds));
}

// {"input": {"min": […]}} of {"name": "input", "min": […]}; null for other values.
Json with_name_as_key(Json entry) {
  for (const auto key : kInputNameKeys) {
    const auto name = entry.is_object() ? entry.find(key) : entry.end();
    if (name == entry.end() || !name->is_string()) continue;
    const auto input = name->get<std::string>();
    entry.erase(name);
    return has_bounds(entry) ? Json{{input, entry}} : Json();
  }
  return {};
}

// A list of profiles. Entries that name one input each belong together until an input is named again.
std::optional<Entries> profiles_of(const Json& list) {
  Json profiles = Json::array();
  bool open = false;  // the last profile takes further inputs
  for (const auto& entry : list) {
    const Json named = with_name_as_key(entry);
    const bool joins = open && !named.is_null() && !profiles.back().contains(named.items().begin().key());
    if (joins)
      profiles.back().update(named);
    else
      profiles.push_back(named.is_null() ? entry : named);
    open = !named.is_null();
  }
  Json bounds;
  for (const auto& profile : profiles) {
    const Json one = by_bound(profile);
    if (one.is_null()) return std::nullopt;
    for (const auto& [bound, shapes] : one.items()) bounds[bound].push_back(shapes);
  }
  return bounds.is_null() ? std::nullopt : std::optional(entries_of(bounds));
}

// {"enabled": true, "core": 1}; none where a key of it is another.
std::optional<Entries> dla_of(const Json& object) {
  bool enabled = true;
  Json core = 0;
  for (const auto& [key, value] : object.items()) {
    if (key == "enabled" && value.is_boolean())
      enabled = value.get<bool>();
    else if (key == "core" || key == "core_id" || is_one_of(key, kDlaKeys))
      core = value;
    else if (!is_one_of(key, kFallbackKeys) || value != true)
      return std::nullopt;
  }
  return enabled ? Entries{{"dla", core}} : Entries{};
}

// {"dla": 1}, {"dla": true} for the first core, or an object.
std::optional<Entries> dla_entry(const Json& value) {
  if (value.is_object()) return dla_of(value);
  if (value.is_boolean()) return value.get<bool>() ? Entries{{"dla", 0}} : Entries{};
  return Entries{{"dla", value}};
}

bool is_engine_file(const Json& value) {
  if (!value.is_string()) return false;
  const auto text = value.get<std::string>();
  return std::ranges::any_of(declared_engines(), [&](const DeclaredEngine& engine) {
    return std::ranges::any_of(engine.builds, [&](const auto& ending) { return text.ends_with(ending); });
  });
}

// The first extents of the largest shapes, profile by profile and input by input.
void add_batches(const Json& shapes, std::vector<Json>& batches) {
  if (shapes.is_array() && !shapes.empty() && shapes.front().is_number())
    return batches.push_back(shapes.front());
  if (shapes.is_structured())
    for (const auto& one : shapes) add_batches(one, batches);
}

bool has_largest_batch(const Json& root, const Json& batch) {
  std::vector<Json> batches;
  for (const auto& [key, value] : root.items()) {
    const bool list = value.is_array() && is_one_of(key, kProfileKeys);
    if (const auto shapes = list                         ? profiles_of(value)
                            : is_one_of(key, kShapeKeys) ? shapes_of(value)
                                                         : std::nullopt)
      for (const auto& [option, own] : *shapes)
        if (option == "max_shapes") add_batches(own, batches);
    if (bound_named(key) == "max") add_batches(value, batches);
  }
  return !batches.empty() && std::ranges::all_of(batches, [&](const Json& one) { return one == batch; });
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
  if (value.is_array() && is_one_of(key, kProfileKeys)) return profiles_of(value);
  if (is_one_of(key, kDlaKeys)) return dla_entry(value);
  if (is_one_of(key, kFallbackKeys) && value == true) return Entries{};
  if (key == "engine" && is_engine_file(value)) return Entries{{"output", value}};
  for (const auto& word : kWords)
    if (word.key == key) return Entries{{std::string(word.option), with_suffix(value, word.suffix)}};
  return std::nullopt;
}

std::string_view without_place_ending(std::string_view key) {
  for (const auto ending : kPlaceEndings)
    if (key.ends_with(ending)) return key.substr(0, key.size() - ending.size());
  return key;
}

std::vector<EngineConfigAnswer> settle_switches(Json& root) {
  std::vector<EngineConfigAnswer> answers;
  for (const auto key : kDlaSwitches) {
    const auto given = root.find(key);
    if (given == root.end() || !given->is_boolean()) continue;
    const bool on = given->get<bool>();
    root.erase(given);
    const auto has_core = std::ranges::any_of(kDlaKeys, [&](auto core) { return root.contains(core); });
    if (on && !has_core) root["dla"] = 0;
    for (const auto core : kDlaKeys)
      if (!on) root.erase(std::string(core));
  }
  for (const auto key : kFallbackKeys)
    if (const auto given = root.find(key); given != root.end() && *given == false) {
      answers.push_back(
          {std::string(key), "with a DLA core the GPU always does what the DLA cannot; leave it out"});
      root.erase(given);
    }
  if (const auto given = root.find(kMaxBatch); given != root.end()) {
    if (!given->is_null() && !has_largest_batch(root, *given))
      answers.push_back({std::string(kMaxBatch), fmt::format(kNoMaxBatch, given->dump())});
    root.erase(given);
  }
  return answers;
}

}  // namespace paceline::config
