// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/maybe.h"
#include "result/stored/rank_steps.h"
#include "result/stored/samples.h"

// Aligns the step tables of ranks: the same step side by side.
namespace paceline::result {

// One step on every rank, in rank order.
using StepAcross = std::vector<const StepRow*>;

// The tables, sorted by rank. The pointers refer to `ranks`.
std::vector<const RankSteps*> by_rank(const std::vector<RankSteps>& ranks);

// Throws Error(kData) naming the ranks of a world that sent no table, or more than one.
void require_ranks(const std::vector<RankSteps>& ranks, std::int64_t world);

// The steps in their order, each with the rows of all ranks, which refer to `ranks`. Throws Error(kData) if
// there is no step, if ranks lack or repeat steps (with their numbers), or if ranks disagree about a phase.
std::vector<StepAcross> aligned(const std::vector<RankSteps>& ranks);
std::vector<StepAcross> timed_only(std::vector<StepAcross> steps);

// The timed steps as samples: the largest step time over the ranks, the rank that took it, and the start on
// the lowest rank. Throws as aligned does.
std::vector<Sample> step_samples(const std::vector<RankSteps>& ranks, std::int32_t repetition);

// The step time of the slowest rank.
std::int64_t step_time(const StepAcross& step);

Number median_or_missing(const std::vector<double>& values);

// Median over steps.
template <typename Step, typename Get>
Number median_over(const std::vector<Step>& steps, Get get) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const auto& step : steps) values.push_back(get(step));
  return median_or_missing(values);
}

}  // namespace paceline::result
