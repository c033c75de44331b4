// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/rank_counters.h"
#include "workload/training/clock_sampler.h"

namespace paceline::workload {

// Gathers evidence of what disturbs this rank during a window of steps.
class RankObserver {
 public:
  // `ranks_of_host`: the process ids of all ranks of this host. `clocks` outlives this.
  RankObserver(std::vector<int> ranks_of_host, const ClockSampler& clocks)
      : ranks_(std::move(ranks_of_host)), clocks_(clocks) {}

  void begin();  // a new window
  // Returns the evidence of the window until now, in which `steps` steps were made; every figure is missing
  // before begin().
  [[nodiscard]] result::RankEvidence evidence(std::int64_t steps) const;

 private:
  std::vector<int> ranks_;
  const ClockSampler& clocks_;
  std::optional<host::RankCounters> first_;
  std::size_t mark_ = 0;
};

}  // namespace paceline::workload
