// SPDX-License-Identifier: MIT
#include "run/case_settings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "config/device.h"
#include "config/precision_table.h"
#include "config/vocabulary.h"

namespace paceline::run {
namespace {

// With their defaults.
constexpr std::array kDeviceOptions{std::pair{"io", "device"}, std::pair{"cuda_graph", "false"}};

constexpr std::int64_t kUsualSamples = 64;

constexpr double kFloorS = 0.5;
constexpr double kFloorOnGpuS = 1.0;  // whose clocks are lower when it has idled

}  // namespace

std::string optional_text(const config::Settings& s, std::string_view name) {
  return s.has(name) ? s.text(name) : std::string();
}

std::string asked_precision(const config::Settings& s) {
  const auto text = optional_text(s, "precision");
  return text == config::kPrecisionOfFile ? "fp32" : text;
}

std::map<std::string, std::string> device_options(const config::Settings& s) {
  std::map<std::string, std::string> options;
  for (const auto& [name, usual] : kDeviceOptions) {
    if (!s.has(name)) continue;
    if (const auto value = config::value_text(s.list(name).front()); value != usual) options[name] = value;
  }
  return options;
}

std::int64_t asked_samples(const config::Settings& s) {
  return s.has("accuracy.samples") ? s.integer("accuracy.samples") : kUsualSamples;
}

double warmup_floor_s(const config::Settings& s) {
  if (s.has("warmup.min_time_s")) return s.number("warmup.min_time_s");
  const double usual = config::runs_on_cpu(s.text("engine"), s.text("device")) ? kFloorS : kFloorOnGpuS;
  return std::min(usual, s.number("warmup.max_time_s"));
}

std::int64_t instances_per_device(const config::Settings& s) {
  if (!s.has("instances") || s.text("device").find(':') != std::string::npos ||
      config::runs_on_cpu(s.text("engine"), s.text("device")))
    return 0;
  return s.has("instances_per_device") ? s.integer("instances_per_device") : 1;
}

}  // namespace paceline::run
