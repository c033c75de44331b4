// SPDX-License-Identifier: MIT
#include "result/figures/aligned_steps.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

constexpr std::size_t kMostNamed = 5;  // ranks, and ranges of steps of one rank

using Numbers = std::vector<std::int64_t>;

[[noreturn]] void refuse_steps(const std::string& what) {
  throw Error(
      ErrorCode::kData,
      fmt::format("the steps of the ranks do not fit together: {}; run it again, and keep the logs of its "
                  "ranks if it happens again",
                  what));
}

// The first few of many phrases.
std::string some_of(std::vector<std::string> phrases, std::string_view separator, std::string_view of_what) {
  const std::size_t all = phrases.size();
  if (all <= kMostNamed) return join(phrases, separator);
  phrases.resize(kMostNamed);
  return fmt::format("{} and {} more {}", join(phrases, separator), all - kMostNamed, of_what);
}

// "step 5", "steps 3 to 7, 9"
std::string step_ranges(const Numbers& steps) {
  std::vector<std::string> ranges;
  for (std::size_t begin = 0, end; begin < steps.size(); begin = end) {
    end = begin + 1;
    while (end < steps.size() && steps[end] == steps[end - 1] + 1) ++end;
    ranges.push_back(end == begin + 1 ? fmt::format("{}", steps[begin])
                                      : fmt::format("{} to {}", steps[begin], steps[end - 1]));
  }
  return fmt::format("{} {}", steps.size() == 1 ? "step" : "steps",
                     some_of(std::move(ranges), ", ", "ranges"));
}

Numbers numbers_of(const StepAcross& rows) {
  Numbers steps;
  for (const StepRow* row : rows) steps.push_back(row->step);
  return steps;
}

// The rows of a table in the order of their steps.
StepAcross rows_in_order(const RankSteps& table) {
  StepAcross rows;
  rows.reserve(table.rows.size());
  for (const auto& row : table.rows) rows.push_back(&row);
  const auto earlier = [](const StepRow* a, const StepRow* b) { return a->step < b->step; };
  if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::stable_sort(rows.begin(), rows.end(), earlier);
  return rows;
}

void refuse_twice(const RankSteps& table, const StepAcross& rows) {
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i]->step == rows[i - 1]->step)
      refuse_steps(fmt::format("rank {} has two rows of step {}", table.rank.rank, rows[i]->step));
}

bool same_steps(const StepAcross& a, const StepAcross& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const StepRow* one, const StepRow* other) { return one->step == other->step; });
}

// Names every rank that lacks a step which another rank has.
[[noreturn]] void refuse_gaps(const std::vector<const RankSteps*>& tables) {
  Numbers all;
  for (const RankSteps* table : tables) {
    Numbers both;
    const auto steps = numbers_of(rows_in_order(*table));
    std::set_union(all.begin(), all.end(), steps.begin(), steps.end(), std::back_inserter(both));
    all = std::move(both);
  }
  std::vector<std::string> gaps;
  for (const RankSteps* table : tables) {
    Numbers lacking;
    const auto steps = numbers_of(rows_in_order(*table));
    std::set_difference(all.begin(), all.end(), steps.begin(), steps.end(), std::back_inserter(lacking));
    if (!lacking.empty())
      gaps.push_back(fmt::format("rank {} lacks {}", table->rank.rank, step_ranges(lacking)));
  }
  refuse_steps(some_of(std::move(gaps), "; ", "ranks"));
}

// Index of the slowest rank; the first of equal ones, so that the order in which ranks report does not
// matter.
std::size_t slowest(const StepAcross& step) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < step.size(); ++i)
    if (step[i]->step_ns > step[at]->step_ns) at = i;
  return at;
}

}  // namespace

std::vector<const RankSteps*> by_rank(const std::vector<RankSteps>& ranks) {
  std::vector<const RankSteps*> tables;
  for (const auto& table : ranks) tables.push_back(&table);
  std::stable_sort(tables.begin(), tables.end(),
                   [](const RankSteps* a, const RankSteps* b) { return a->rank.rank < b->rank.rank; });
  return tables;
}

void require_ranks(const std::vector<RankSteps>& ranks, std::int64_t world) {
  std::map<std::int64_t, int> tables;
  for (std::int64_t rank = 0; rank < world; ++rank) tables[rank] = 0;
  for (const auto& table : ranks) ++tables[table.rank.rank];
  std::vector<std::string> wrong;
  for (const auto& [rank, count] : tables) {
    if (rank < 0 || rank >= world)
      wrong.push_back(fmt::format("rank {} is none of {}", rank, world));
    else if (count != 1)
      wrong.push_back(fmt::format("rank {} sent {}", rank, count == 0 ? "no steps" : "its steps twice"));
  }
  if (!wrong.empty()) refuse_steps(some_of(std::move(wrong), "; ", "ranks"));
}

std::vector<StepAcross> aligned(const std::vector<RankSteps>& ranks) {
  const auto tables = by_rank(ranks);
  if (tables.empty() || std::all_of(ranks.begin(), ranks.end(), [](const auto& t) { return t.rows.empty(); }))
    throw Error(ErrorCode::kData, "a training run without a single step; see the log of the case");
  const auto first = rows_in_order(*tables.front());
  std::vector<StepAcross> steps(first.size());
  for (auto& step : steps) step.reserve(tables.size());
  for (const RankSteps* table : tables) {
    const auto rows = rows_in_order(*table);
    refuse_twice(*table, rows);
    if (!same_steps(first, rows)) refuse_gaps(tables);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (rows[i]->phase != first[i]->phase)
        refuse_steps(fmt::format("rank {} counts differently step {}", table->rank.rank, rows[i]->step));
      steps[i].push_back(rows[i]);
    }
  }
  return steps;
}

std::vector<StepAcross> timed_only(std::vector<StepAcross> steps) {
  std::erase_if(steps, [](const StepAcross& s) { return s.front()->phase != StepPhase::kTimed; });
  return steps;
}

std::vector<Sample> step_samples(const std::vector<RankSteps>& ranks, std::int32_t repetition) {
  const auto tables = by_rank(ranks);
  std::vector<Sample> samples;
  for (const auto& step : timed_only(aligned(ranks))) {
    const std::size_t at = slowest(step);
    Sample s;
    s.repetition = repetition;
    s.rank = static_cast<std::int32_t>(tables[at]->rank.rank);
    s.index = static_cast<std::int64_t>(samples.size());
    s.start_ns = step.front()->start_ns;
    s.host_ns = step[at]->step_ns;
    samples.push_back(s);
  }
  return samples;
}

std::int64_t step_time(const StepAcross& step) {
  return step[slowest(step)]->step_ns;
}

Number median_or_missing(const std::vector<double>& values) {
  return values.empty() ? Number::missing("no timed steps") : Number(stats::median(values));
}

}  // namespace paceline::result
