// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plugin/engine.h"

namespace paceline::workload {

// Does what happens between two samples, outside the timed region: the time of the last one is read from the
// engine's own clock, `feed` binds the inputs of the next where they change, and caches are emptied for it.
class BetweenSamples {
 public:
  BetweenSamples(plugin::Engine& engine, bool cold_caches, std::function<void()> feed = {});
  // For LoopHooks::before_sample; empty where there is nothing to do.
  [[nodiscard]] std::function<void(std::int64_t)> hook();
  // Device times of the phase that has just ended, one per sample; all empty when the engine has no clock.
  [[nodiscard]] std::vector<std::optional<std::int64_t>> take_times(std::size_t samples);

 private:
  void keep_time();

  plugin::Engine& engine_;
  bool has_clock_, cold_caches_;
  std::function<void()> feed_;
  std::vector<std::optional<std::int64_t>> times_;
};

}  // namespace paceline::workload
