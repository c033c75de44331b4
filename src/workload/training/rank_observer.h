// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "host/rank_counters.h"

namespace paceline::workload {

// Samples what may disturb this rank, between its steps: counters at both ends of a window, and the clocks of
// its CPUs and its GPU twice a second.
class RankObserver {
 public:
  // The process ids of all ranks of this host, and the device of this rank: "cpu", "cuda:1".
  RankObserver(std::vector<int> ranks_of_host, const std::string& device);

  void begin();  // a new window
  void between_steps();
  // Of the window until now, in which `steps` steps were made. Missing figures before begin().
  [[nodiscard]] result::RankEvidence evidence(std::int64_t steps);

 private:
  std::vector<int> ranks_;
  std::optional<host::RankCounters> first_;
  host::ClockSamples clocks_;
  std::unique_ptr<host::GpuSensor> gpu_;
  std::int64_t sampled_ns_ = 0;
  SteadyClock clock_;
};

}  // namespace paceline::workload
