// SPDX-License-Identifier: MIT
#include "measure/stop_decider.h"

#include <algorithm>
#include <utility>

#include "stats/mser.h"

namespace paceline::measure {

AloneDecider::AloneDecider(const stats::WarmupConfig& warmup, stats::StopConfig stop,
                           std::optional<std::int64_t> iterations)
    : warmup_(warmup), stop_(std::move(stop)), iterations_(iterations) {}

stats::WarmupDecision AloneDecider::warmup(std::span<const double> durations_ns, std::int64_t elapsed_ns) {
  return warmup_.add(durations_ns, elapsed_ns);
}

std::int64_t AloneDecider::first_stop_check(double sample_ns) const {
  if (iterations_) return std::max<std::int64_t>(1, *iterations_);
  const auto within_cap = static_cast<double>(stop_.t_max_ns) / std::max(sample_ns, 1.0);
  const auto first =
      std::min({static_cast<double>(stop_.n_min), static_cast<double>(stop_.n_max), within_cap});
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(first));
}

stats::StopDecision AloneDecider::stop(std::span<const double> samples_ns, std::int64_t elapsed_ns) {
  if (iterations_) return stop_at_count(samples_ns);
  auto decision = stats::decide(samples_ns, elapsed_ns, stop_);
  if (decision.reason == stats::kStopConverged && !extended_) extend(decision, samples_ns, elapsed_ns);
  decision.extended = extended_;
  return decision;
}

stats::StopDecision AloneDecider::stop_at_count(std::span<const double> samples_ns) const {
  stats::StopDecision decision;
  decision.stop = true;
  decision.reason = stats::kStopFixed;
  decision.first = stats::estimate_quantile(samples_ns, stats::kPpmP50, stop_.confidence);
  return decision;
}

// Extends to twice the length when the series still begins with warm-up.
void AloneDecider::extend(stats::StopDecision& decision, std::span<const double> samples_ns,
                          std::int64_t elapsed_ns) {
  const auto cut = stats::mser5(samples_ns);
  const auto n = static_cast<std::int64_t>(samples_ns.size());
  if (!cut || !cut->residual_warmup || n >= stop_.n_max || elapsed_ns >= stop_.t_max_ns) return;
  extended_ = true;
  auto twice = stop_;
  twice.check_growth = 2;
  decision.stop = false;
  decision.converged.reset();
  decision.reason.clear();
  decision.unmet.emplace_back("the first samples still warm up");
  decision.next_n = stats::next_checkpoint(n, elapsed_ns, twice);
}

}  // namespace paceline::measure
