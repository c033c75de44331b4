// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace paceline::stats {

inline constexpr double kMildZ = 3.5;
inline constexpr double kSevereZ = 10.0;

// Samples far from the median by double MAD (methodology: outliers). They are counted, never dropped.
struct Outliers {
  std::vector<std::int64_t> mild;    // indices with 3.5 < |z| <= 10
  std::vector<std::int64_t> severe;  // indices with |z| > 10
  double severe_time_share = 0;      // share of the sum of all samples
  std::optional<double> median_excl_severe;
};
// `resolution` is the clock's, in the unit of the samples: half of it is the lower bound of each MAD.
Outliers classify_outliers(std::span<const double> x, double resolution);

}  // namespace paceline::stats
