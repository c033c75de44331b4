// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>

// Finds where a series is high.
namespace paceline::stats {

// The value half way between two groups that leave the least squares within them. The values' own if all are
// equal. At least one value.
double cut_between_groups(std::span<const double> x);

struct Segment {
  std::size_t first = 0, count = 0;
  double sum = 0;
};
// Adjacent scores with the largest sum (Kadane); none if no score is positive.
Segment best_segment(std::span<const double> scores);

}  // namespace paceline::stats
