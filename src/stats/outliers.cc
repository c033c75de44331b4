// SPDX-License-Identifier: MIT
#include "stats/outliers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::stats {
namespace {

// Distance from the median in sigmas of the sample's side; 0/0 for constant data on an exact clock is 0.
double z_score(double x, const DoubleMad& spread, double floor) {
  const double side = std::max(x < spread.median ? spread.low : spread.high, floor);
  const double distance = std::abs(x - spread.median);
  return distance > 0 ? distance / (kMadToSigma * side) : 0;
}

}  // namespace

Outliers classify_outliers(std::span<const double> x, double resolution) {
  Outliers outliers;
  const auto spread = double_mad(x);
  std::vector<double> rest;
  double severe_sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double z = z_score(x[i], spread, resolution / 2);
    if (z > kSevereZ) {
      outliers.severe.push_back(static_cast<std::int64_t>(i));
      severe_sum += x[i];
      continue;
    }
    if (z > kMildZ) outliers.mild.push_back(static_cast<std::int64_t>(i));
    rest.push_back(x[i]);
  }
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  if (sum > 0) outliers.severe_time_share = severe_sum / sum;
  if (!rest.empty()) outliers.median_excl_severe = median(rest);
  return outliers;
}

}  // namespace paceline::stats
