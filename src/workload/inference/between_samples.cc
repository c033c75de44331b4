// SPDX-License-Identifier: MIT
#include "workload/inference/between_samples.h"

#include <cmath>
#include <utility>

namespace paceline::workload {

BetweenSamples::BetweenSamples(plugin::Engine& engine, bool cold_caches, std::function<void()> feed)
    : engine_(engine),
      has_clock_(engine.info().device_clock),
      cold_caches_(cold_caches),
      feed_(std::move(feed)) {}

std::function<void(std::int64_t)> BetweenSamples::hook() {
  if (!has_clock_ && !cold_caches_ && !feed_) return {};
  return [this](std::int64_t index) {
    index == 0 ? times_.clear() : keep_time();
    if (feed_) feed_();
    if (cold_caches_) engine_.flush_caches();
  };
}

void BetweenSamples::keep_time() {
  const auto ns = has_clock_ ? engine_.device_ns(0) : std::nullopt;
  times_.push_back(ns ? std::optional<std::int64_t>(std::llround(*ns)) : std::nullopt);
}

std::vector<std::optional<std::int64_t>> BetweenSamples::take_times(std::size_t samples) {
  if (samples > 0) keep_time();
  times_.resize(samples);
  return std::move(times_);
}

}  // namespace paceline::workload
