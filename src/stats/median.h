// SPDX-License-Identifier: MIT
// The median: the mean of the two middle samples. Throws Error(kInternal) for an empty sample.
#pragma once
#include <span>
#include <vector>

namespace paceline::stats {

std::vector<double> sorted_copy(std::span<const double> x);

// `x` in any order; median_sorted needs ascending values.
double median(std::span<const double> x);
double median_sorted(std::span<const double> sorted);

}  // namespace paceline::stats
