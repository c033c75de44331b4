// SPDX-License-Identifier: MIT
#include "workload/inference/device_times.h"

#include <cmath>

namespace paceline::workload {

std::function<void(std::int64_t)> DeviceTimes::hook() {
  if (!engine_.info().device_clock) return {};
  return [this](std::int64_t index) { index == 0 ? times_.clear() : keep(); };
}

void DeviceTimes::keep() {
  const auto ns = engine_.device_ns(0);
  times_.push_back(ns ? std::optional(static_cast<std::int64_t>(std::llround(*ns))) : std::nullopt);
}

std::vector<std::optional<std::int64_t>> DeviceTimes::take(std::size_t samples) {
  if (engine_.info().device_clock && samples > 0) keep();
  times_.resize(samples);
  return std::move(times_);
}

}  // namespace paceline::workload
