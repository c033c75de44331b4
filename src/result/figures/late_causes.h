// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <vector>

#include "result/stored/training.h"

namespace paceline::result {

// How much longer than the median of the other ranks one rank took per step, and in data wait alone: means
// over the steps, in ns. Evidence should be of the same steps.
struct Lateness {
  std::size_t rank = 0;  // index into the ranks
  double own_ns = 0;     // its own time
  double late_ns = 0;
  double data_wait_ns = 0, others_data_wait_ns = 0;
};

// The causes that explain at least 30 % of the lateness each, the largest first; they overlap. The time of
// reads from a disk is not known: they come last, where they could explain as much. Empty: the cause is
// unknown.
std::vector<LateCause> causes_of(const Lateness& late, const std::vector<RankFigures>& ranks);

}  // namespace paceline::result
