// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/interval.h"
#include "stats/median.h"
#include "stats/order_statistics.h"

// Quantiles of samples (methodology: quantile estimator, quantile intervals). A quantile is given in parts
// per million, so that ranks are integer arithmetic. Every function throws Error(kInternal) for an empty
// sample.
namespace paceline::stats {

inline constexpr std::uint32_t kPpmOne = 1'000'000;
inline constexpr std::uint32_t kPpmP50 = 500'000;
inline constexpr std::uint32_t kPpmP90 = 900'000;
inline constexpr std::uint32_t kPpmP95 = 950'000;
inline constexpr std::uint32_t kPpmP99 = 990'000;
inline constexpr std::uint32_t kPpmP999 = 999'000;
constexpr double ppm_to_p(std::uint32_t ppm) {
  return ppm / 1e6;
}

// Stored beside every quantile: how it was computed from the samples.
inline constexpr char kQuantileMethod[] = "nearest_rank; median is the mean of the two middle samples";

// The smallest observed value with at least ppm of the sample at or below it.
double nearest_rank(std::span<const double> sorted, std::uint32_t ppm);
// Its place among n sorted values, from 0; n is at least 1.
std::size_t nearest_rank_index(std::size_t n, std::uint32_t ppm);
// The median for p50, nearest rank otherwise.
double quantile(std::span<const double> sorted, std::uint32_t ppm);

// A quantile for publication. `value` and both ends are missing, with `reason`, when the sample cannot carry
// the claim; values have the unit of the samples.
struct QuantileEstimate {
  std::uint32_t ppm = 0;
  std::optional<double> value;
  std::optional<double> ci_low;
  std::optional<double> ci_high;
  double confidence = 0.95;
  std::string ci_method = "binomial_neff";
  std::optional<double> actual_coverage;  // exact coverage of the ranks used; >= confidence
  double n_eff = 0;                       // n / tau of the indicator x <= quantile
  std::string reason;                     // why value is missing, else empty
};

// Quantile with its exact interval, corrected for dependence between successive samples. `x` is in measured
// order, `sorted` the same samples ascending.
QuantileEstimate estimate_quantile(std::span<const double> x, std::span<const double> sorted,
                                   std::uint32_t ppm, double confidence);
QuantileEstimate estimate_quantile(std::span<const double> x, std::uint32_t ppm, double confidence = 0.95);

// A quantile that must not be published: value missing, with this reason.
QuantileEstimate missing_quantile(std::uint32_t ppm, double confidence, std::string reason);

// Relative half-width max(high - value, value - low) / value; none without an interval or for value <= 0.
std::optional<double> relative_halfwidth(const QuantileEstimate& estimate);

}  // namespace paceline::stats
