// SPDX-License-Identifier: MIT
#include "workload/inference/between_samples.h"

#include <cmath>
#include <utility>

namespace paceline::workload {
namespace {

std::optional<std::int64_t> rounded(const std::optional<double>& ns) {
  return ns ? std::optional<std::int64_t>(std::llround(*ns)) : std::nullopt;
}

}  // namespace

BetweenSamples::BetweenSamples(plugin::Engine& engine, bool cold_caches, std::function<void()> feed,
                               const std::int64_t* enqueue_ns)
    : engine_(engine),
      has_clock_(engine.info().device_clock),
      cold_caches_(cold_caches),
      feed_(std::move(feed)),
      enqueue_ns_(enqueue_ns) {}

std::function<void(std::int64_t)> BetweenSamples::hook() {
  if (!has_clock_ && !cold_caches_ && !feed_) return {};
  return [this](std::int64_t index) {
    index == 0 ? times_.clear() : keep_time();
    if (feed_) feed_();
    if (cold_caches_) engine_.flush_caches();
  };
}

void BetweenSamples::keep_time() {
  auto& times = times_.emplace_back();
  if (!has_clock_) return;
  times.device_ns = rounded(engine_.device_ns(0));
  if (enqueue_ns_) times.enqueue_ns = *enqueue_ns_;
  const auto parts = engine_.part_ns(0);
  times.input_ns = rounded(parts.inputs_ns);
  times.compute_ns = rounded(parts.model_ns);
  times.output_ns = rounded(parts.outputs_ns);
}

std::vector<DeviceTimes> BetweenSamples::take_times(std::size_t samples) {
  if (samples > 0) keep_time();
  times_.resize(samples);
  return std::move(times_);
}

}  // namespace paceline::workload
