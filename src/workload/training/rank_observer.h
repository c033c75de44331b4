// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "host/noise/rank_counters.h"
#include "workload/window/measured_window.h"

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

// The evidence of the timed steps. `counters`: what they are observed with; `next_step`: the number of the
// step that comes next.
class EvidenceObserver : public WindowObserver {
 public:
  EvidenceObserver(RankObserver counters, std::function<std::int64_t()> next_step)
      : counters_(std::move(counters)), next_step_(std::move(next_step)) {}
  void open() override;
  void close() override;
  void report(result::Repetition&, double) override {}  // it travels with the steps of its rank
  [[nodiscard]] const result::RankEvidence& evidence() const { return evidence_; }

 private:
  RankObserver counters_;
  std::function<std::int64_t()> next_step_;
  std::int64_t first_step_ = 0;
  result::RankEvidence evidence_;
};

}  // namespace paceline::workload
