// SPDX-License-Identifier: MIT
// Differences of means: they add up over parts, which differences of medians do not.
#pragma once
#include <span>
#include <vector>

#include "stats/interval.h"

namespace paceline::analysis::difference {

// Mean over iterations with the variance of that mean.
struct Mean {
  double value = 0;
  double variance = 0;            // of the mean
  double degrees_of_freedom = 0;  // of the variance; 0: it is known, or zero
};
// From 20 iterations on they count as fewer where they depend on each other (stats/autocorrelation). Needs
// two.
Mean mean_of(std::span<const double> times);
// The sum of several parts: iteration by iteration if all have the same number of them, else as independent.
Mean mean_of_sum(const std::vector<std::span<const double>>& parts);

// The sum of two that are independent.
Mean sum_of(const Mean& a, const Mean& b);

struct MeanDifference {
  double value = 0;  // b - a
  double variance = 0;
  double degrees_of_freedom = 0;

  // Welch's t. Without variance it is the value.
  [[nodiscard]] stats::Interval interval(double confidence) const;
};
MeanDifference difference_of(const Mean& a, const Mean& b);

}  // namespace paceline::analysis::difference
