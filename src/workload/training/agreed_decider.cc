// SPDX-License-Identifier: MIT
#include "workload/training/agreed_decider.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace paceline::workload {
namespace {

constexpr double kAskEveryNs = 0.5e9;

// Returns rank 0's value on every rank.
template <class T>
T of_rank0(plugin::RankGroup& group, T value) {
  group.broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
  return value;
}

}  // namespace

void AgreedEnd::ask(std::int64_t step, std::int64_t last_step_ns) {
  if (!group_) {
    end_ = interrupt_.load();
    return;
  }
  if (step < next_) return;
  std::array<double, 2> words{interrupt_ ? 1.0 : 0.0,
                              static_cast<double>(std::max<std::int64_t>(1, last_step_ns))};
  group_->reduce_max(words);
  next_ = step + std::max<std::int64_t>(1, std::llround(kAskEveryNs / words[1]));
  if (words[0] > 0) end_ = true;
}

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
