// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

// Exact binomial order-statistic intervals (methodology: quantile intervals).
namespace paceline::stats {

// 1-based ranks of the ends of an interval; 0: no such end.
struct Ranks {
  std::int64_t l = 0;
  std::int64_t u = 0;
  friend bool operator==(const Ranks&, const Ranks&) = default;
};

// Ranks that bracket the p-quantile of n independent samples, with at most `alpha2` in each tail.
Ranks quantile_ranks(std::int64_t n, double p, double alpha2);

// Exact probability that [x_(l), x_(u)] holds the p-quantile of a continuous distribution.
double rank_coverage(std::int64_t n, double p, Ranks ranks);

// Fewest independent samples for which both ranks exist: 6, 36, 72, 368, 3688 for p50/p90/p95/p99/p99.9 at
// 0.025.
std::int64_t required_n(double p, double alpha2);

// Highest quantile with an upper end at this effective sample size: alpha2^(1/n_eff). 0 when n_eff <= 0.
double highest_claimable_p(double n_eff, double alpha2 = 0.025);

// P(Bin(n, p) <= k).
double binomial_cdf(std::int64_t n, double p, std::int64_t k);

}  // namespace paceline::stats
