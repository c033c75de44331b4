// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "plugin/engine.h"
#include "workload/timed_repetition.h"

namespace paceline::workload {

// Does what happens between two samples, outside the timed region: the times of the last one are read from
// the engine's own clock, `feed` binds the inputs of the next where they change, and caches are emptied for
// it.
class BetweenSamples {
 public:
  // `enqueue_ns`: where the timed body leaves how long enqueueing took; null: it does not tell.
  BetweenSamples(plugin::Engine& engine, bool cold_caches, std::function<void()> feed = {},
                 const std::int64_t* enqueue_ns = nullptr);
  // For LoopHooks::before_sample; empty where there is nothing to do.
  [[nodiscard]] std::function<void(std::int64_t)> hook();
  // Times of the phase that has just ended, one entry per sample; all empty when the engine has no clock.
  [[nodiscard]] std::vector<DeviceTimes> take_times(std::size_t samples);

 private:
  void keep_time();

  plugin::Engine& engine_;
  bool has_clock_, cold_caches_;
  std::function<void()> feed_;
  const std::int64_t* enqueue_ns_;
  std::vector<DeviceTimes> times_;
};

}  // namespace paceline::workload
