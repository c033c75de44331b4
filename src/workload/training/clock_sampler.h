// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "host/rank_counters.h"

namespace paceline::workload {

// Samples the clocks of this rank's CPUs and of its GPU twice a second, between its steps.
class ClockSampler {
 public:
  // `device`: that of the rank, "cpu" or "cuda:1".
  explicit ClockSampler(const std::string& device);

  void between_steps();
  // A position in the samples so far, and the samples from there on.
  [[nodiscard]] std::size_t mark() const { return samples_.core_mhz.size(); }
  [[nodiscard]] host::ClockSamples since(std::size_t mark) const;

 private:
  std::vector<int> cpus_;
  std::unique_ptr<host::GpuSensor> gpu_;
  host::ClockSamples samples_;
  std::int64_t sampled_ns_ = 0;
  SteadyClock clock_;
};

}  // namespace paceline::workload
