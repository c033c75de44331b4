// SPDX-License-Identifier: MIT
#include "workload/training/agreed_decider.h"

namespace paceline::workload {
namespace {

// Returns rank 0's value on every rank.
template <class T>
T of_rank0(plugin::RankGroup& group, T value) {
  group.broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
  return value;
}

}  // namespace

stats::WarmupDecision AgreedDecider::warmup(std::span<const double> durations_ns, std::int64_t elapsed_ns) {
  std::vector<double> slowest(durations_ns.begin(), durations_ns.end());
  group_.reduce_max(slowest);
  return of_rank0(group_, deciding() ? own_.warmup(slowest, elapsed_ns) : stats::WarmupDecision{});
}

std::int64_t AgreedDecider::first_stop_check(double sample_ns) const {
  return of_rank0(group_, deciding() ? own_.first_stop_check(sample_ns) : 0);
}

stats::StopDecision AgreedDecider::stop(std::span<const double> samples_ns, std::int64_t elapsed_ns) {
  std::vector<double> fresh(samples_ns.begin() + static_cast<std::ptrdiff_t>(slowest_ns_.size()),
                            samples_ns.end());
  group_.reduce_max(fresh);
  slowest_ns_.insert(slowest_ns_.end(), fresh.begin(), fresh.end());
  stats::StopDecision decision;
  if (deciding()) decision = own_.stop(slowest_ns_, elapsed_ns);
  struct Agreed {
    bool stop;
    std::int64_t next_n;
  };
  const auto agreed = of_rank0(group_, Agreed{decision.stop, decision.next_n});
  decision.stop = agreed.stop;
  decision.next_n = agreed.next_n;
  return decision;
}

}  // namespace paceline::workload
