// SPDX-License-Identifier: MIT
#include "stats/signed_rank.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stats/quantile.h"

namespace paceline::stats {
namespace {

constexpr std::size_t kMostExact = 300;

std::vector<double> walsh_averages(std::span<const double> d) {
  std::vector<double> averages;
  averages.reserve(d.size() * (d.size() + 1) / 2);
  for (std::size_t i = 0; i < d.size(); ++i)
    for (std::size_t j = i; j < d.size(); ++j) averages.push_back((d[i] + d[j]) / 2);
  std::sort(averages.begin(), averages.end());
  return averages;
}

// P(W = w) for w = 0 … n(n+1)/2, where each rank counts with probability one half.
std::vector<double> signed_rank_pmf(std::size_t n) {
  std::vector<double> pmf(n * (n + 1) / 2 + 1, 0.0);
  pmf[0] = 1;
  std::size_t top = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    top += rank;
    for (std::size_t w = top + 1; w-- > 0;) pmf[w] = (pmf[w] + (w >= rank ? pmf[w - rank] : 0.0)) / 2;
  }
  return pmf;
}

// Largest k with P(W <= k - 1) <= alpha2; 0 when there is none.
std::size_t lower_rank(std::size_t n, double alpha2) {
  double cumulated = 0;
  std::size_t k = 0;
  for (double probability : signed_rank_pmf(n)) {
    cumulated += probability;
    if (cumulated > alpha2) break;
    ++k;
  }
  return k;
}

}  // namespace

SignedRankEstimate signed_rank_estimate(std::span<const double> d, double alpha2) {
  const auto averages = walsh_averages(d);
  SignedRankEstimate estimate{median_sorted(averages), std::nullopt};
  const auto k = d.size() <= kMostExact ? lower_rank(d.size(), alpha2) : 0;
  if (k > 0) estimate.ci = Interval{averages[k - 1], averages[averages.size() - k]};
  return estimate;
}

}  // namespace paceline::stats
