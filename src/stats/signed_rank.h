// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>

#include "stats/interval.h"

namespace paceline::stats {

// Hodges-Lehmann: median of all pairwise means, with the exact interval of Wilcoxon's signed-rank statistic.
// Assumes symmetric differences, hence never the headline.
struct SignedRankEstimate {
  double value = 0;
  std::optional<Interval> ci;  // none with too few values, or above 300
};
SignedRankEstimate signed_rank_estimate(std::span<const double> d, double alpha2);

}  // namespace paceline::stats
