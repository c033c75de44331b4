// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plugin/engine.h"

namespace paceline::workload {

// Time of each sample on the engine's own clock, asked for between samples: never inside the timed region.
class DeviceTimes {
 public:
  explicit DeviceTimes(const plugin::Engine& engine) : engine_(engine) {}
  // For LoopHooks::before_sample; empty where the engine has no such clock.
  [[nodiscard]] std::function<void(std::int64_t)> hook();
  // Of the phase that has just ended, one a sample; all of them empty without a clock.
  [[nodiscard]] std::vector<std::optional<std::int64_t>> take(std::size_t samples);

 private:
  void keep();

  const plugin::Engine& engine_;
  std::vector<std::optional<std::int64_t>> times_;
};

}  // namespace paceline::workload
