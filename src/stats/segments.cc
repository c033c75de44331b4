// SPDX-License-Identifier: MIT
#include "stats/segments.h"

#include <algorithm>
#include <vector>

#include "stats/spread.h"

namespace paceline::stats {

double cut_between_groups(std::span<const double> x) {
  std::vector<double> sorted(x.begin(), x.end());
  std::ranges::sort(sorted);
  const double centre = mean(sorted);
  double cut = sorted.front(), most = 0, below = 0;
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    below += sorted[i] - centre;
    const auto n = static_cast<double>(i + 1), rest = static_cast<double>(sorted.size() - i - 1);
    const double between = below * below * (1 / n + 1 / rest);  // squares between the groups
    if (sorted[i] < sorted[i + 1] && between > most) most = between, cut = (sorted[i] + sorted[i + 1]) / 2;
  }
  return cut;
}

Segment best_segment(std::span<const double> scores) {
  Segment best, open;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (open.sum <= 0) open = {.first = i};
    open.sum += scores[i], ++open.count;
    if (open.sum > best.sum) best = open;
  }
  return best;
}

}  // namespace paceline::stats
