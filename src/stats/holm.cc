// SPDX-License-Identifier: MIT
#include "stats/holm.h"

#include <algorithm>
#include <numeric>

#include "stats/order_statistics.h"

namespace paceline::stats {

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, static_cast<double>(p.size() - rank) * p[order[rank]]);
    adjusted[order[rank]] = std::min(1.0, largest);
  }
  return adjusted;
}

std::int64_t pairs_for_tests(std::int64_t tests, double alpha) {
  return required_n(0.5, alpha / static_cast<double>(std::max<std::int64_t>(tests, 1)) / 2);
}

}  // namespace paceline::stats
