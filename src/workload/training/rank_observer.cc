// SPDX-License-Identifier: MIT
#include "workload/training/rank_observer.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kSampleEveryNs = 500'000'000;

}  // namespace

void RankObserver::begin() {
  mhz_.clear();
  first_ = host::take_rank_counters(ranks_);
  sampled_ns_ = clock_.now_ns();
}

void RankObserver::between_steps() {
  const auto now = clock_.now_ns();
  if (!first_ || now - sampled_ns_ < kSampleEveryNs) return;
  sampled_ns_ = now;
  mhz_.push_back(host::mean_mhz(first_->cpu_numbers));
}

result::RankEvidence RankObserver::evidence(std::int64_t steps) {
  return first_ ? host::evidence_between(*first_, host::take_rank_counters(ranks_), steps, mhz_)
                : result::RankEvidence{};
}

}  // namespace paceline::workload
