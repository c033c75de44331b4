// SPDX-License-Identifier: MIT
#include "workload/inference/certain_miss.h"

#include "result/figures/summarize_load.h"
#include "stats/queueing.h"

namespace paceline::workload {
namespace {

constexpr double kLookAgain = 1.1;   // times the requests of the last test
constexpr double kLateShare = 0.01;  // of requests with an issue delay above the limit, as its p99 says

}  // namespace

CertainMiss::CertainMiss(const pass::LoadSpec& load, const ServerPlan& plan)
    : p_(load.slo_p),
      bound_ns_(load.slo_bound_s * 1e9),
      limit_ns_(result::issue_delay_limit_ns(load.slo_bound_s * 1e9)),
      warmup_(plan.warmup_requests),
      counted_(plan.requests - plan.warmup_requests) {}

bool CertainMiss::add(const std::vector<measure::Request>& final) {
  for (const auto& request : final) {
    if (request.index < warmup_) continue;
    const bool done = request.state == measure::RequestState::kDone;
    latencies_.push_back(done ? static_cast<double>(request.latency_ns()) : stats::kNever);
    over_ += latencies_.back() > bound_ns_;
    delays_ += request.issue_delay_ns >= 0;
    late_ += static_cast<double>(request.issue_delay_ns) > limit_ns_;
  }
  const bool too_many = static_cast<double>(over_) > (1 - p_) * static_cast<double>(counted_);
  if (!too_many || latencies_.size() < next_look_) return false;
  const auto seen = std::ssize(latencies_);
  next_look_ = static_cast<std::size_t>(kLookAgain * static_cast<double>(seen)) + 1;
  const auto test = stats::slo_test(latencies_, counted_, bound_ns_, p_, kSloConfidence);
  return test.verdict == answer::Verdict::kNo && (!issued_late(0) || issued_late(counted_ - seen));
}

bool CertainMiss::issued_late(std::int64_t others) const {
  return static_cast<double>(late_) > kLateShare * static_cast<double>(delays_ + others);
}

}  // namespace paceline::workload
