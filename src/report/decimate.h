// SPDX-License-Identifier: MIT
// Thins out points for a chart without losing an extreme.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace paceline::report {

// Indices to draw, ascending, at most `max_points` (>= 2): each stretch keeps its smallest and its largest
// value, so no extreme is lost. All indices when they fit.
std::vector<std::size_t> decimate(std::span<const double> values, std::size_t max_points);

// Counts of all values in equal bins. The right edge is p99 + 3 IQR or the maximum; values beyond it are
// counted separately.
struct Histogram {
  double low = 0;
  double bin_width = 0;
  std::vector<std::int64_t> counts;
  std::int64_t beyond = 0;
};
Histogram histogram(std::span<const double> values);

}  // namespace paceline::report
