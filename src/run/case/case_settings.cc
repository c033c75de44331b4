// SPDX-License-Identifier: MIT
#include "run/case/case_settings.h"

#include <algorithm>
#include <cmath>

#include "base/seconds.h"
#include "config/device.h"
#include "config/precision_table.h"
#include "config/vocabulary.h"

namespace paceline::run {
namespace {

constexpr std::int64_t kUsualSamples = 64;

constexpr double kFloorS = 0.5;
constexpr double kFloorOnGpuS = 1.0;  // whose clocks are lower when it has idled

}  // namespace

std::string optional_text(const config::Settings& s, std::string_view name) {
  return s.has(name) ? s.text(name) : std::string();
}

Device device_of(const config::Settings& s) {
  const auto text = optional_text(s, "device");
  if (text.empty() || text == config::kAutoDevice) return {};
  auto device = device_named(text);
  if (const auto numbers = device_numbers(s); !numbers.empty()) device.index = numbers.front();
  return device;
}

std::string asked_precision(const config::Settings& s) {
  const auto text = optional_text(s, "precision");
  return text == config::kPrecisionOfFile ? "fp32" : text;
}

std::int64_t asked_samples(const config::Settings& s) {
  return s.has("accuracy.samples") ? s.integer("accuracy.samples") : kUsualSamples;
}

double warmup_floor_s(const config::Settings& s) {
  if (s.has("warmup.min_time_s")) return s.number("warmup.min_time_s");
  const double usual = config::runs_on_cpu(s.text("engine"), device_of(s)) ? kFloorS : kFloorOnGpuS;
  return std::min(usual, s.number("warmup.max_time_s"));
}

double gap_s(const config::Settings& s) {
  return parse_seconds(optional_text(s, "gap")).value_or(0);
}

std::int64_t instances_of(const config::Settings& s) {
  if (s.has("instances")) return s.integer("instances");
  if (!s.has("gpus")) return 0;
  return s.integer("gpus") * (s.has("instances_per_device") ? s.integer("instances_per_device") : 1);
}

std::vector<int> device_numbers(const config::Settings& s) {
  std::vector<int> numbers;
  if (!s.has("gpus")) return numbers;
  for (const double number : s.numbers("devices")) numbers.push_back(static_cast<int>(number));
  numbers.resize(std::min(numbers.size(), static_cast<std::size_t>(s.integer("gpus"))));
  return numbers;
}

std::int64_t instances_per_device(const config::Settings& s) {
  if (instances_of(s) == 0 || s.text("device").find(':') != std::string::npos ||
      config::runs_on_cpu(s.text("engine"), device_of(s)))
    return 0;
  return s.has("instances_per_device") ? s.integer("instances_per_device") : 1;
}

std::int64_t to_ns(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

stats::StopConfig stop_config(const config::Settings& s) {
  stats::StopConfig stop;
  stop.confidence = s.number("confidence");
  stop.n_min = s.integer("stop.n_min");
  stop.n_max = s.integer("stop.n_max");
  stop.t_min_ns = to_ns(s.number("stop.t_min_s"));
  stop.t_max_ns = to_ns(s.number("stop.t_max_s"));
  stop.check_growth = s.number("stop.check_growth");
  stop.quantiles_ppm.clear();
  for (const double p : s.numbers("stop.quantiles"))
    stop.quantiles_ppm.push_back(static_cast<std::uint32_t>(std::llround(p * 1e6)));
  for (auto& row : stop.precisions)
    row.rel_halfwidth = s.number(row.ppm == stats::kPpmP50   ? "stop.rel_halfwidth_p50"
                                 : row.ppm == stats::kPpmP90 ? "stop.rel_halfwidth_p90"
                                                             : "stop.rel_halfwidth_p99");
  return stop;
}

}  // namespace paceline::run
