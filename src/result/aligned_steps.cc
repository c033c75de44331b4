// SPDX-License-Identifier: MIT
#include "result/aligned_steps.h"

#include <fmt/format.h>

#include "base/error.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

[[noreturn]] void refuse(const RankSteps& table, std::int64_t step, const char* what) {
  throw Error(ErrorCode::kData,
              fmt::format("the steps of the ranks do not fit together: rank {} {} step {}; run it again, and "
                          "keep the logs of its ranks if it happens again",
                          table.rank.rank, what, step));
}

// `first` and `table` are in order of steps.
void require_same_steps(const RankSteps& first, const RankSteps& table) {
  const std::size_t n = std::max(first.rows.size(), table.rows.size());
  for (std::size_t i = 0; i < n; ++i) {
    if (i >= table.rows.size()) refuse(table, first.rows[i].step, "lacks");
    const StepRow& row = table.rows[i];
    if (i > 0 && row.step == table.rows[i - 1].step) refuse(table, row.step, "has two rows of");
    if (i >= first.rows.size() || row.step < first.rows[i].step) refuse(first, row.step, "lacks");
    if (row.step > first.rows[i].step) refuse(table, first.rows[i].step, "lacks");
    if (row.phase != first.rows[i].phase) refuse(table, row.step, "counts differently");
  }
}

std::int64_t duration_of(const StepRow& row) {
  return row.step_ns;
}

}  // namespace

std::vector<RankSteps> in_order(std::vector<RankSteps> ranks) {
  std::sort(ranks.begin(), ranks.end(),
            [](const auto& a, const auto& b) { return a.rank.rank < b.rank.rank; });
  for (auto& table : ranks)
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [](const StepRow& a, const StepRow& b) { return a.step < b.step; });
  return ranks;
}

std::vector<StepAcross> aligned(const std::vector<RankSteps>& ranks) {
  if (ranks.empty() || ranks.front().rows.empty())
    throw Error(ErrorCode::kData, "a training run without a single step; see the log of the case");
  std::vector<StepAcross> steps(ranks.front().rows.size());
  for (const auto& table : ranks) {
    require_same_steps(ranks.front(), table);
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i].push_back(&table.rows[i]);
  }
  return steps;
}

std::vector<StepAcross> timed_only(std::vector<StepAcross> steps) {
  std::erase_if(steps, [](const StepAcross& s) { return s.front()->phase != StepPhase::kTimed; });
  return steps;
}

std::vector<Sample> step_samples(const std::vector<RankSteps>& ranks, std::int32_t repetition) {
  const auto ordered = in_order(ranks);
  std::vector<Sample> samples;
  for (const auto& step : timed_only(aligned(ordered))) {
    const std::size_t at = slowest(step, duration_of);
    Sample s;
    s.repetition = repetition;
    s.rank = static_cast<std::int32_t>(ordered[at].rank.rank);
    s.index = static_cast<std::int64_t>(samples.size());
    s.start_ns = step.front()->start_ns;
    s.host_ns = step[at]->step_ns;
    samples.push_back(s);
  }
  return samples;
}

std::int64_t step_time(const StepAcross& step) {
  return step[slowest(step, duration_of)]->step_ns;
}

Number median_or_missing(const std::vector<double>& values) {
  return values.empty() ? Number::missing("no timed steps") : Number(stats::median(values));
}

}  // namespace paceline::result
