// SPDX-License-Identifier: MIT
#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stats/autocorrelation.h"
#include "stats/require_samples.h"

namespace paceline::stats {
namespace {

double element(std::span<const double> x, std::int64_t rank) {
  return x[static_cast<std::size_t>(rank - 1)];
}

std::vector<double> indicator(std::span<const double> x, double bound) {
  std::vector<double> below(x.size());
  std::transform(x.begin(), x.end(), below.begin(), [bound](double v) { return v <= bound ? 1.0 : 0.0; });
  return below;
}

// Ranks among m independent samples, scaled to n dependent ones.
Ranks stretch(Ranks ranks, std::int64_t m, std::int64_t n) {
  if (m == n) return ranks;
  return {(ranks.l - 1) * n / m + 1, std::min(n, (ranks.u * n + m - 1) / m)};
}

}  // namespace

std::size_t nearest_rank_index(std::size_t n, std::uint32_t ppm) {
  return std::max<std::size_t>((n * ppm + kPpmOne - 1) / kPpmOne, 1) - 1;
}

double nearest_rank(std::span<const double> sorted, std::uint32_t ppm) {
  require_samples(sorted, "a quantile");
  return sorted[nearest_rank_index(sorted.size(), ppm)];
}

double quantile(std::span<const double> sorted, std::uint32_t ppm) {
  return ppm == kPpmP50 ? median_sorted(sorted) : nearest_rank(sorted, ppm);
}

QuantileEstimate missing_quantile(std::uint32_t ppm, double confidence, std::string reason) {
  QuantileEstimate estimate;
  estimate.ppm = ppm;
  estimate.confidence = confidence;
  estimate.reason = std::move(reason);
  return estimate;
}

QuantileEstimate estimate_quantile(std::span<const double> x, std::span<const double> sorted,
                                   std::uint32_t ppm, double confidence) {
  const double p = ppm_to_p(ppm);
  const double q = quantile(sorted, ppm);
  const auto n = static_cast<std::int64_t>(x.size());
  auto estimate = missing_quantile(ppm, confidence, kInsufficientSamples);
  estimate.n_eff = static_cast<double>(n) / tau_geyer(indicator(x, q));
  const auto m = std::min(n, static_cast<std::int64_t>(estimate.n_eff));
  const Ranks ranks = quantile_ranks(m, p, tail(confidence));
  if (ranks.l == 0 || ranks.u == 0) return estimate;
  const Ranks ends = stretch(ranks, m, n);
  estimate.value = q;
  estimate.ci_low = element(sorted, ends.l);
  estimate.ci_high = element(sorted, ends.u);
  estimate.actual_coverage = rank_coverage(m, p, ranks);
  estimate.reason.clear();
  return estimate;
}

QuantileEstimate estimate_quantile(std::span<const double> x, std::uint32_t ppm, double confidence) {
  return estimate_quantile(x, sorted_copy(x), ppm, confidence);
}

std::optional<double> relative_halfwidth(const QuantileEstimate& estimate) {
  if (!estimate.value || *estimate.value <= 0) return std::nullopt;
  const double q = *estimate.value;
  return std::max(*estimate.ci_high - q, q - *estimate.ci_low) / q;
}

}  // namespace paceline::stats
