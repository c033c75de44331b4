// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <vector>

#include "result/figures/step_account.h"

// View of a training case's steps and ranks for pictures, reduced to a size that does not grow with them.
namespace paceline::report {

inline constexpr std::size_t kMostRanksDrawn = 32, kMostMapRows = 64, kMostMapColumns = 160;

// How long one rank takes by itself until its gradients can be exchanged, over all steps, in ns.
struct OwnTimes {
  std::int64_t rank = 0;
  double p5 = 0, p25 = 0, median = 0, p75 = 0, p95 = 0;
};

// How late ranks are ready, in ns: beyond the median rank of their step, the largest of each cell.
struct LatenessMap {
  std::size_t rows = 0, columns = 0;
  std::vector<std::int64_t> first_rank{}, first_step{};  // of each row and column
  std::vector<double> late_ns{};                         // row by row
  std::int64_t last_rank = 0, last_step = 0;
};

struct StepView {
  std::vector<std::int64_t> ranks;      // in the order of the accounts
  result::StepAccount typical, worst;   // the step of median length, and the longest
  double typical_ns = 0, worst_ns = 0;  // their lengths
  std::vector<OwnTimes> own;            // of at most kMostRanksDrawn ranks, those that take longest
  LatenessMap late;
  [[nodiscard]] bool empty() const { return ranks.empty(); }
};

// Empty with fewer than two ranks or three steps. Throws Error(kData) where steps of ranks do not fit.
StepView step_view(const std::vector<result::RankSteps>& tables);

// Indices of the `most` largest values, in ascending order.
std::vector<std::size_t> largest_of(const std::vector<double>& values, std::size_t most);

}  // namespace paceline::report
