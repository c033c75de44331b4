// SPDX-License-Identifier: MIT
// Lets all ranks end warm-up and measurement at the same step.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "measure/stop_decider.h"
#include "plugin/rank_group.h"

namespace paceline::workload {

// Lets ranks stop together before the work is done: an interrupt of one is an interrupt of all, at the same
// step.
class AgreedEnd {
 public:
  // `group` is null for a single rank. Both outlive this.
  AgreedEnd(const std::atomic<bool>& interrupt, plugin::RankGroup* group)
      : interrupt_(interrupt), group_(group) {}

  // To be called between two steps, in the same way on every rank; about twice a second it is a collective.
  void ask(std::int64_t step, std::int64_t last_step_ns);
  [[nodiscard]] const std::atomic<bool>& flag() const { return end_; }

 private:
  const std::atomic<bool>& interrupt_;
  plugin::RankGroup* group_;
  std::int64_t next_ = 0;
  std::atomic<bool> end_{false};
};

// Ranks that run the same loop ask at the same counts and get the same answer: rank 0's, based on the largest
// step time over the ranks (methodology: multi-rank aggregation). Each question is a collective, outside the
// timed region.
class AgreedDecider : public measure::StopDecider {
 public:
  // `own` decides on rank 0 and is not asked on the others. Both outlive this.
  AgreedDecider(measure::StopDecider& own, plugin::RankGroup& group) : own_(own), group_(group) {}
  [[nodiscard]] std::int64_t first_warmup_check() const override { return own_.first_warmup_check(); }
  stats::WarmupDecision warmup(std::span<const double> durations_ns, std::int64_t elapsed_ns) override;
  [[nodiscard]] std::int64_t first_stop_check(double sample_ns) const override;
  // `samples_ns` grows from question to question; only the new part is exchanged.
  stats::StopDecision stop(std::span<const double> samples_ns, std::int64_t elapsed_ns) override;

 private:
  [[nodiscard]] bool deciding() const { return group_.rank() == 0; }

  measure::StopDecider& own_;
  plugin::RankGroup& group_;
  std::vector<double> slowest_ns_;  // of every timed step so far
};

}  // namespace paceline::workload
