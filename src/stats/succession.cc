// SPDX-License-Identifier: MIT
// Tests whether processes that follow one another are alike.
#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/noise.h"

namespace paceline::stats {
namespace {

constexpr std::size_t kEnoughForNormal = 10;  // from here on the statistic is close to normal

// Ranks, averaged over ties.
std::vector<double> ranks_of(std::span<const double> x) {
  std::vector<double> ranks;
  for (const double value : x) {
    const auto below = std::count_if(x.begin(), x.end(), [&](double other) { return other < value; });
    const auto equal = std::count(x.begin(), x.end(), value);
    ranks.push_back(static_cast<double>(below) + static_cast<double>(equal + 1) / 2);
  }
  return ranks;
}

}  // namespace

std::optional<double> succession_z(std::span<const double> x) {
  if (x.size() < kEnoughForNormal) return std::nullopt;
  const auto ranks = ranks_of(x);
  const double n = static_cast<double>(x.size()), mean = (n + 1) / 2;
  double steps = 0, spread = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    spread += (ranks[i] - mean) * (ranks[i] - mean);
    if (i > 0) steps += (ranks[i] - ranks[i - 1]) * (ranks[i] - ranks[i - 1]);
  }
  if (spread <= 0) return 0;
  const double variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) * (n - 1));
  return (2 - steps / spread) / std::sqrt(variance);
}

}  // namespace paceline::stats
