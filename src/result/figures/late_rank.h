// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

#include "result/figures/late_pattern.h"
#include "result/figures/step_account.h"
#include "result/stored/training.h"

// Which rank the others wait for (methodology: multi-rank aggregation).
namespace paceline::result {

// With fewer steps no rank is named with certainty: the first exchange has none before it.
inline constexpr std::int64_t kFewestSteps = kFewestLate + 1;

// The rank that causes more waiting than chance explains: what it costs, where and in which steps it is late.
// Where chance cannot be ruled out, a rank that clearly causes nearly all waiting is returned with `certain`
// false. `ranks`: its numbers in the order of the tables. Empty: no single rank is to blame.
std::vector<LateRank> late_rank_of(const std::vector<StepAccount>& accounts,
                                   const std::vector<RankFigures>& ranks);

// The scheduler may favour one of the ranks that share their CPUs, for no longer than this: jobs of half a
// second in which nothing was late had a rank behind by up to a quarter of the others' own time, those of
// five had none.
inline constexpr double kLongestFavourNs = 3e9;

// Whether a suspected rank is late beyond chance, but may be late by the scheduler's favour.
bool is_favour(const LateRank& suspected);

// Number of steps of `step_ns` to record so that counting late exchanges alone leaves no doubt about a
// suspected rank, and the scheduler of CPUs that ranks share neither.
std::int64_t steps_for_certainty(const LateRank& suspected, std::size_t ranks, double step_ns);

}  // namespace paceline::result
