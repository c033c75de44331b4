// SPDX-License-Identifier: MIT
#include "stats/order_statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

namespace paceline::stats {
namespace {

using Binomial = boost::math::binomial_distribution<double>;

// The largest j in [0, n] for which `holds`, true up to some j and false after it; holds(0) is assumed.
template <class Predicate>
std::int64_t last_true(std::int64_t n, Predicate holds) {
  std::int64_t low = 0;
  std::int64_t high = n + 1;
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

double at_most(const Binomial& bin, std::int64_t k) {
  return boost::math::cdf(bin, static_cast<double>(k));
}

double at_least(const Binomial& bin, std::int64_t k) {
  return k <= 0 ? 1.0 : boost::math::cdf(boost::math::complement(bin, static_cast<double>(k - 1)));
}

}  // namespace

double binomial_cdf(std::int64_t n, double p, std::int64_t k) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return at_most(Binomial(static_cast<double>(n), p), k);
}

Ranks quantile_ranks(std::int64_t n, double p, double alpha2) {
  if (n < 1) return {};
  const Binomial bin(static_cast<double>(n), p);
  Ranks ranks;
  ranks.l = last_true(n, [&](std::int64_t j) { return at_most(bin, j - 1) <= alpha2; });
  const auto below_u = last_true(n, [&](std::int64_t j) { return at_least(bin, j) > alpha2; });
  ranks.u = below_u < n ? below_u + 1 : 0;
  return ranks;
}

double rank_coverage(std::int64_t n, double p, Ranks ranks) {
  return binomial_cdf(n, p, ranks.u - 1) - binomial_cdf(n, p, ranks.l - 1);
}

std::int64_t required_n(double p, double alpha2) {
  return static_cast<std::int64_t>(std::ceil(std::log(alpha2) / std::log(std::max(p, 1.0 - p))));
}

double highest_claimable_p(double n_eff, double alpha2) {
  return n_eff > 0 ? std::pow(alpha2, 1.0 / n_eff) : 0.0;
}

}  // namespace paceline::stats
