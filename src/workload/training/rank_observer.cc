// SPDX-License-Identifier: MIT
#include "workload/training/rank_observer.h"

namespace paceline::workload {

void RankObserver::begin() {
  mark_ = clocks_.mark();
  first_ = host::take_rank_counters(ranks_);
}

result::RankEvidence RankObserver::evidence(std::int64_t steps) const {
  if (!first_) return {};
  return host::evidence_between(*first_, host::take_rank_counters(ranks_), steps, clocks_.since(mark_));
}

void EvidenceObserver::open() {
  first_step_ = next_step_();
  counters_.begin();
}

void EvidenceObserver::close() {
  evidence_ = counters_.evidence(next_step_() - first_step_);
}

}  // namespace paceline::workload
