// SPDX-License-Identifier: MIT
#include "stats/proportion.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

namespace paceline::stats {
namespace {

constexpr std::int64_t kMostTrials = 10'000'000;
constexpr int kHalvings = 100;  // of an interval of length 2, down to the last bit

double normal_quantile(double alpha) {
  return boost::math::quantile(boost::math::complement(boost::math::normal_distribution<double>(), alpha));
}

// Standardised distance of the observed difference from `delta`; estimates the discordant share under it.
double tango_score(const PairedCounts& c, double delta) {
  const double n = c.trials;
  const double b = -c.gained - c.lost + (2 * n - c.gained + c.lost) * delta;
  const double product = -c.lost * delta * (1 - delta);
  const double lost_share = (std::sqrt(std::max(0.0, b * b - 8 * n * product)) - b) / (4 * n);
  const double variance = n * (2 * lost_share + delta * (1 - delta));
  const double distance = c.gained - c.lost - n * delta;
  if (distance == 0) return 0;
  return variance > 0 ? distance / std::sqrt(variance) : std::copysign(HUGE_VAL, distance);
}

// Where the score, which falls with delta, reaches `target`.
double solve_score(const PairedCounts& c, double low, double high, double target) {
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (tango_score(c, middle) > target ? low : high) = middle;
  }
  return (low + high) / 2;
}

double seen_change(const PairedCounts& c) {
  return (c.gained - c.lost) / c.trials;
}

// The fewest trials that are enough, where more are enough, too; 0: kMostTrials are not.
template <typename Enough>
std::int64_t fewest_trials(const Enough& enough) {
  std::int64_t high = 1;
  while (!enough(static_cast<double>(high)))
    if ((high *= 2) > kMostTrials) return 0;
  std::int64_t low = high / 2;  // too few, or 0
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(static_cast<double>(middle)) ? high : low) = middle;
  }
  return high;
}

}  // namespace

double binomial_upper(double successes, double trials, double alpha) {
  if (successes >= trials) return 1;
  return boost::math::ibetac_inv(successes + 1, trials - successes, alpha);
}

double binomial_lower(double successes, double trials, double alpha) {
  if (successes <= 0) return 0;
  return boost::math::ibeta_inv(successes, trials - successes + 1, alpha);
}

Interval binomial_interval(double successes, double trials, double confidence) {
  const double alpha = tail(confidence);
  return {binomial_lower(successes, trials, alpha), binomial_upper(successes, trials, alpha)};
}

std::int64_t trials_for_upper(double share, double limit, double alpha) {
  if (share >= limit) return 0;
  return fewest_trials([&](double n) { return binomial_upper(share * n, n, alpha) < limit; });
}

double loss_upper(const PairedCounts& c, double alpha) {
  return std::max(-paired_change_lower(c, alpha), binomial_upper(0, c.trials, alpha));
}

std::int64_t trials_for_loss(const PairedCounts& c, double limit, double alpha) {
  if ((c.lost - c.gained) / c.trials >= limit) return 0;
  return fewest_trials([&](double n) {
    return loss_upper({c.lost / c.trials * n, c.gained / c.trials * n, n}, alpha) < limit;
  });
}

double mcnemar_exact_p(const PairedCounts& c) {
  const double discordant = c.lost + c.gained;
  if (discordant == 0) return 1;
  const boost::math::binomial_distribution<double> fair(discordant, 0.5);
  return std::min(1.0, 2 * boost::math::cdf(fair, std::min(c.lost, c.gained)));
}

double paired_change_lower(const PairedCounts& c, double alpha) {
  return solve_score(c, -1, seen_change(c), normal_quantile(alpha));
}

double paired_change_upper(const PairedCounts& c, double alpha) {
  return solve_score(c, seen_change(c), 1, -normal_quantile(alpha));
}

Interval paired_change_interval(const PairedCounts& c, double confidence) {
  return {paired_change_lower(c, tail(confidence)), paired_change_upper(c, tail(confidence))};
}

}  // namespace paceline::stats
