// SPDX-License-Identifier: MIT
// Finds a trend in a series.
#include <algorithm>
#include <cmath>
#include <map>

#include "stats/noise.h"
#include "stats/quantile.h"

namespace paceline::stats {
namespace {

constexpr std::size_t kBlocks = 20;

std::vector<double> block_medians(std::span<const double> x) {
  std::vector<double> medians;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    const auto begin = i * x.size() / kBlocks;
    medians.push_back(median(x.subspan(begin, (i + 1) * x.size() / kBlocks - begin)));
  }
  return medians;
}

// Variance of Mann-Kendall's S, corrected for ties.
double score_variance(std::span<const double> y) {
  const auto term = [](double n) { return n * (n - 1) * (2 * n + 5); };
  std::map<double, int> ties;
  for (double v : y) ++ties[v];
  double variance = term(static_cast<double>(y.size()));
  for (const auto& [value, count] : ties) variance -= term(count);
  return variance / 18;
}

double mann_kendall_z(std::span<const double> y) {
  int score = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t j = i + 1; j < y.size(); ++j) score += (y[j] > y[i]) - (y[j] < y[i]);
  const double variance = score_variance(y);
  if (score == 0 || variance <= 0) return 0;
  return (score > 0 ? score - 1 : score + 1) / std::sqrt(variance);
}

}  // namespace

double theil_sen_slope(std::span<const double> y) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t j = i + 1; j < y.size(); ++j)
      slopes.push_back((y[j] - y[i]) / static_cast<double>(j - i));
  return median(slopes);
}

std::optional<Drift> drift(std::span<const double> x) {
  if (x.size() < kBlocks) return std::nullopt;
  const double centre = median(x);
  if (centre <= 0) return std::nullopt;
  const auto medians = block_medians(x);
  Drift result;
  result.z = mann_kendall_z(medians);
  result.total_frac = theil_sen_slope(medians) * static_cast<double>(kBlocks) / centre;
  const double size = std::abs(result.total_frac);
  result.flagged = std::abs(result.z) > kDriftZ && size >= kDriftWarnFrac;
  result.invalid = result.flagged && size >= kDriftInvalidFrac;
  return result;
}

}  // namespace paceline::stats
