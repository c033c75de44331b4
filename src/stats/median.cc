// SPDX-License-Identifier: MIT
#include "stats/median.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "stats/require_samples.h"

namespace paceline::stats {

std::vector<double> sorted_copy(std::span<const double> x) {
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double median_sorted(std::span<const double> sorted) {
  require_samples(sorted, "a median");
  const auto half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : std::midpoint(sorted[half - 1], sorted[half]);
}

double median(std::span<const double> x) {
  require_samples(x, "a median");
  std::vector<double> copy(x.begin(), x.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  return copy.size() % 2 == 1 ? *middle : std::midpoint(*std::max_element(copy.begin(), middle), *middle);
}

}  // namespace paceline::stats
