// SPDX-License-Identifier: MIT
// Parts of a side from traces of other programs.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/difference/step_parts.h"
#include "analysis/traces/exchanges.h"
#include "analysis/traces/trace_checks.h"
#include "analysis/traces/trace_tables.h"

namespace paceline::analysis::difference {
namespace {

double mean_step(const traces::RankTrace& one) {
  double sum = 0;
  for (const auto& step : one.steps) sum += static_cast<double>(step.length);
  return one.steps.empty() ? 0 : sum / static_cast<double>(one.steps.size());
}

// The rank with the median step time, of an even number the faster of the two.
const traces::RankTrace& middle_rank(const std::vector<traces::RankTrace>& ranks) {
  std::vector<const traces::RankTrace*> sorted;
  for (const auto& one : ranks) sorted.push_back(&one);
  std::ranges::stable_sort(sorted, {}, [](const auto* one) { return mean_step(*one); });
  return *sorted[(sorted.size() - 1) / 2];
}

std::vector<double> times_of_steps(const traces::TimesByStep& by_step, std::int64_t steps) {
  std::vector<double> times(by_step.begin(), by_step.end());
  times.resize(static_cast<std::size_t>(steps));
  return times;
}

double calls_per_step(std::int64_t calls, std::int64_t steps) {
  return static_cast<double>(calls) / static_cast<double>(steps);
}

void add_kernels_of(TimedParts& side, const traces::TraceOperator& op, std::int64_t steps) {
  for (const auto& kernel : op.kernels)
    side.parts.push_back({.is = {"kernel of " + op.name, kernel.name, op.name},
                          .calls = calls_per_step(kernel.calls, steps),
                          .times_ns = times_of_steps(kernel.device_by_step, steps)});
  if (op.kernels.empty() && op.device_ns > 0)
    side.parts.push_back({.is = {"kernel", op.name},
                          .calls = calls_per_step(op.calls, steps),
                          .times_ns = times_of_steps(op.device_by_step, steps)});
}

}  // namespace

TimedParts trace_step_parts(std::vector<traces::RankTrace> ranks) {
  traces::require_one_run(ranks);
  return step_parts(traces::tables_of(ranks, traces::waits_of(ranks)));
}

TimedParts trace_operator_parts(const std::vector<traces::RankTrace>& ranks) {
  TimedParts side{.unit_words = "step", .ordered = false};
  side.missing = "there are no traces";
  if (ranks.empty()) return side;
  const auto& rank = middle_rank(ranks);
  side.missing = rank.operators.empty() ? "its trace has no operators" : "";
  for (const auto& op : rank.operators) {
    if (rank.device)
      add_kernels_of(side, op, rank.operator_steps);
    else
      side.parts.push_back({.is = {"operator", op.name},
                            .calls = calls_per_step(op.calls, rank.operator_steps),
                            .times_ns = times_of_steps(op.host_by_step, rank.operator_steps)});
  }
  for (const auto& step : rank.steps) side.total_ns.push_back(static_cast<double>(step.length));
  return side;
}

}  // namespace paceline::analysis::difference
