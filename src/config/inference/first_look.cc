// SPDX-License-Identifier: MIT
// Defaults of `infer` as long as nothing typed asks for more.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/seconds.h"
#include "base/text.h"
#include "config/inference/inference_in_plan.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

// Limits that `infer` sets as long as nothing typed asks for more.
struct FirstLook {
  std::string_view name, value,
      of_many;  // `of_many`: of processes that are enough for an interval of their own
  std::span<const std::string_view> unless;
};
constexpr std::int64_t kManyProcesses = 6;

// Options about the length, and gates, which need what a plan measures.
constexpr std::array<std::string_view, 11> kLengths{"stop.t_max_s",
                                                    "stop.n_min",
                                                    "stop.n_max",
                                                    "iterations",
                                                    "stop.rel_halfwidth_p50",
                                                    "stop.rel_halfwidth_p90",
                                                    "stop.quantiles",
                                                    "stop.rel_halfwidth_p99",
                                                    "strict",
                                                    "expect",
                                                    "slo"};
// Claims, lower precisions, labels and own inputs need all available inputs.
constexpr std::array<std::string_view, 7> kEvidence{
    "accuracy.samples", "accuracy.max_top1_change", "precisions", "labels", "image_dir", "load_inputs",
    "repetitions"};
// On a busy machine times may never be steady.
constexpr std::array<std::string_view, 7> kWarmup{
    "warmup_iterations",     "warmup.mode",           "warmup.max_time_s", "warmup.min_time_s",
    "warmup.max_iterations", "warmup.min_iterations", "stop.t_max_s"};
// Random calibration says nothing about accuracy, however much of it there is.
constexpr std::array<std::string_view, 8> kCalibration{
    "quantisation.samples", "calib_data", "calib_images",    "calib_cache", "labels",
    "load_inputs",          "image_dir",  "int8_sensitivity"};
constexpr std::array<FirstLook, 4> kFirstLook{{{"stop.t_max_s", "2", "1", kLengths},
                                               {"warmup.max_time_s", "2", "0.75", kWarmup},
                                               {"accuracy.samples", "16", "16", kEvidence},
                                               {"quantisation.samples", "8", "8", kCalibration}}};

bool names_one_of(const FlagSet& flags, std::span<const std::string_view> names) {
  return std::any_of(flags.settings.begin(), flags.settings.end(), [&](const RawSetting& s) {
    return std::find(names.begin(), names.end(), s.name) != names.end();
  });
}

bool asks_int8(const FlagSet& flags) {
  return std::any_of(flags.settings.begin(), flags.settings.end(), [](const RawSetting& s) {
    return s.name == "precisions" &&
           std::any_of(s.values.begin(), s.values.end(), [](const RawValue& v) { return v.text == "int8"; });
  });
}

// Whether a file has a lower precision is only known later.
bool takes_built_in_models(const FlagSet& flags) {
  return std::all_of(flags.settings.begin(), flags.settings.end(), [](const RawSetting& s) {
    return s.name != "models" || std::all_of(s.values.begin(), s.values.end(),
                                             [](const RawValue& v) { return find_model(v.text) != nullptr; });
  });
}

// The check after the timed loop needs inputs of a second batch.
bool batches_fit_twice(const FlagSet& flags, long long samples) {
  return std::all_of(flags.settings.begin(), flags.settings.end(), [&](const RawSetting& s) {
    return s.name != "batch_sizes" || std::all_of(s.values.begin(), s.values.end(), [&](const RawValue& v) {
             const auto batch = parse_int(v.text);
             return batch && 2 * *batch <= samples;
           });
  });
}

// The last value that was typed for an option; null when there is none.
const RawSetting* typed_setting(const FlagSet& flags, std::string_view name) {
  const auto found = std::find_if(flags.settings.rbegin(), flags.settings.rend(),
                                  [&](const RawSetting& s) { return s.name == name && !s.values.empty(); });
  return found == flags.settings.rend() ? nullptr : &*found;
}

// The longest sleep between two inferences.
double longest_gap_s(const FlagSet& flags) {
  double longest = 0;
  const auto* gaps = typed_setting(flags, "gaps");
  for (const auto& value : gaps ? gaps->values : std::vector<RawValue>{})
    longest = std::max(longest, parse_seconds(value.text).value_or(0));
  return longest;
}

// None where the option is not set, or the value of the row does not fit what was typed.
std::optional<std::string> first_look_value(const FirstLook& row, const FlagSet& typed) {
  if (row.name == "accuracy.samples") {
    const bool fits = takes_built_in_models(typed) && batches_fit_twice(typed, *parse_int(row.value));
    return fits ? std::optional(std::string(row.value)) : std::nullopt;
  }
  if (row.name == "quantisation.samples")
    return asks_int8(typed) ? std::optional(std::string(row.value)) : std::nullopt;
  const auto* repetitions = typed_setting(typed, "repetitions");
  const bool many = repetitions && parse_int(repetitions->values.back().text).value_or(0) >= kManyProcesses;
  std::string value(many ? row.of_many : row.value);
  constexpr double kSleeps = 32;  // for the least number of samples, and a few more
  if (const double gap = longest_gap_s(typed); gap > 0)
    value = fmt::format("{:g}", *parse_double(value) + kSleeps * gap);
  if (row.name == "warmup.max_time_s") return value;
  const auto* setting = typed_setting(typed, "scenario");
  const auto scenario = setting ? parse_scenario(setting->values.front().text) : std::nullopt;
  if (scenario && traits_of(*scenario).open_loop) return std::nullopt;  // it has its own lengths
  // As in other tools, a duration means about that long.
  const auto* least = typed_setting(typed, "stop.t_min_s");
  const auto seconds = least ? parse_double(least->values.front().text) : std::nullopt;
  if (seconds && *seconds > *parse_double(value)) return least->values.front().text;
  return value;
}

}  // namespace

FlagSet with_first_look(const FlagSet& typed) {
  FlagSet flags = typed;
  for (const auto& row : kFirstLook) {
    if (names_one_of(typed, row.unless)) continue;
    const auto value = first_look_value(row, typed);
    if (!value) continue;
    RawSetting setting;
    setting.name = setting.written = row.name;
    setting.on_command_line = true;
    setting.values = {{*value, setting.place, false}};
    flags.settings.push_back(std::move(setting));
  }
  return flags;
}

}  // namespace paceline::config
