// SPDX-License-Identifier: MIT
#include "stats/mser.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::stats {
namespace {

constexpr std::size_t kBatch = 5;
constexpr std::size_t kFewestToCut = 10;  // with two, the criterion finds a cut in every series
constexpr double kWinsorSigmas = 8;
constexpr double kResidualFrac = 0.01;

std::vector<double> winsorised_batch_means(std::span<const double> x) {
  const double ceiling = median(x) + kWinsorSigmas * kMadToSigma * mad(x);
  std::vector<double> means(x.size() / kBatch, 0.0);
  for (std::size_t i = 0; i < means.size() * kBatch; ++i)
    means[i / kBatch] += std::min(x[i], ceiling) / kBatch;
  return means;
}

// How many batches to cut, at most half, so that the standard error of the mean of the rest is smallest.
std::size_t best_cut(std::span<const double> z) {
  const std::size_t k = z.size();
  const double origin = mean(z);  // keeps the sums of squares small
  double sum = 0;
  double squares = 0;
  double smallest = std::numeric_limits<double>::infinity();
  std::size_t best = 0;
  for (std::size_t d = k; d-- > 0;) {
    sum += z[d] - origin;
    squares += (z[d] - origin) * (z[d] - origin);
    const auto rest = static_cast<double>(k - d);
    const double score = std::max(0.0, squares - sum * sum / rest) / (rest * rest);
    if (d > k / 2 || score > smallest) continue;
    smallest = score;
    best = d;
  }
  return best;
}

}  // namespace

std::optional<MserCut> mser5(std::span<const double> x) {
  if (x.size() < kFewestToCut * kBatch) return std::nullopt;
  const std::size_t cut = best_cut(winsorised_batch_means(x)) * kBatch;
  MserCut result;
  result.cut = static_cast<std::int64_t>(cut);
  result.median_after = median(x.subspan(cut));
  result.median_before = cut > 0 ? median(x.first(cut)) : result.median_after;
  const double difference = std::abs(result.median_before - result.median_after);
  result.residual_warmup = cut > 0 && difference > kResidualFrac * result.median_after;
  return result;
}

}  // namespace paceline::stats
