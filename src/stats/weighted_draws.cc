// SPDX-License-Identifier: MIT
#include "stats/weighted_draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paceline::stats {
namespace {

constexpr int kHalvingsOfTilt = 60;
constexpr double kSteepest = 1e4;  // t times the largest weight

// Logarithm of the bound at t, and its slope. log(1 - p + p e^(tw)) is written so that nothing overflows.
struct Bound {
  double log = 0, slope = 0;
};
Bound bound_at(std::span<const double> weights, double p, double sum, double t) {
  Bound b{-t * sum, -sum};
  for (const double w : weights) {
    const double others = p + (1 - p) * std::exp(-t * w);
    b.log += t * w + std::log(others);
    b.slope += w * p / others;
  }
  return b;
}

}  // namespace

double chance_of_draws(std::span<const double> weights, double p, double sum) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (total <= 0 || sum <= p * total) return 1;
  double low = 0, high = kSteepest / *std::ranges::max_element(weights);
  for (int i = 0; i < kHalvingsOfTilt; ++i) {
    const double middle = (low + high) / 2;
    (bound_at(weights, p, sum, middle).slope > 0 ? high : low) = middle;
  }
  return std::min(1.0, std::exp(bound_at(weights, p, sum, low).log));
}

}  // namespace paceline::stats
