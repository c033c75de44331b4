// SPDX-License-Identifier: MIT
#include "stats/spread.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/median.h"
#include "stats/require_samples.h"

namespace paceline::stats {
namespace {

template <class Keep>
double median_distance(std::span<const double> x, double centre, Keep keep) {
  std::vector<double> distance;
  distance.reserve(x.size());
  for (double v : x)
    if (keep(v)) distance.push_back(std::abs(v - centre));
  return distance.empty() ? 0 : median(distance);
}

}  // namespace

// Kahan's summation: a sum over 1e5 samples of 1e9 ns keeps its last digits.
double mean(std::span<const double> x) {
  require_samples(x, "the spread");
  double sum = 0;
  double lost = 0;
  for (double v : x) {
    const double y = v - lost;
    const double t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  return sum / static_cast<double>(x.size());
}

std::optional<double> stddev(std::span<const double> x) {
  if (x.size() < 2) return std::nullopt;
  const double m = mean(x);
  double squares = 0;
  for (double v : x) squares += (v - m) * (v - m);
  return std::sqrt(squares / static_cast<double>(x.size() - 1));
}

double mad(std::span<const double> x) {
  return median_distance(x, median(x), [](double) { return true; });
}

double minimum(std::span<const double> x) {
  require_samples(x, "the spread");
  return *std::min_element(x.begin(), x.end());
}

double maximum(std::span<const double> x) {
  require_samples(x, "the spread");
  return *std::max_element(x.begin(), x.end());
}

DoubleMad double_mad(std::span<const double> x) {
  const double m = median(x);
  return {m, median_distance(x, m, [m](double v) { return v <= m; }),
          median_distance(x, m, [m](double v) { return v >= m; })};
}

}  // namespace paceline::stats
