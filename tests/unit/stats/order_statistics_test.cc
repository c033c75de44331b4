// SPDX-License-Identifier: MIT
#include "stats/order_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace paceline::stats {
namespace {

struct Vector {
  double p;
  std::int64_t n, l, u;
};

TEST(OrderStatistics, PublishedRanks) {
  const std::vector<Vector> vectors{
      {.5, 6, 1, 6},           {.5, 10, 2, 9},          {.5, 20, 6, 15},          {.5, 30, 10, 21},
      {.5, 50, 18, 33},        {.5, 100, 40, 61},       {.5, 200, 86, 115},       {.5, 1000, 469, 532},
      {.5, 10000, 4902, 5099}, {.9, 50, 41, 50},        {.9, 100, 84, 96},        {.9, 1000, 881, 919},
      {.95, 100, 90, 100},     {.95, 1000, 936, 964},   {.99, 368, 360, 368},     {.99, 500, 490, 500},
      {.99, 1000, 983, 997},   {.99, 5000, 4936, 4964}, {.99, 10000, 9880, 9920}, {.999, 10000, 9983, 9997},
      {.5, 8, 1, 8},           {.5, 12, 3, 10},         {.5, 16, 4, 13}};
  for (const auto& v : vectors)
    EXPECT_EQ(quantile_ranks(v.n, v.p, 0.025), (Ranks{v.l, v.u})) << v.n << " " << v.p;
}

// The definition, term by term.
Ranks ranks_by_definition(int n, double p, double alpha2) {
  const auto pmf = [&](int k) {
    return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(p) +
                    (n - k) * std::log1p(-p));
  };
  Ranks ranks;
  double below = 0;
  for (int j = 0; j < n && (below += pmf(j)) <= alpha2; ++j) ranks.l = j + 1;
  double above = 0;
  for (int j = n; j > 0 && (above += pmf(j)) <= alpha2; --j) ranks.u = j;
  return ranks;
}

TEST(OrderStatistics, RanksFollowTheDefinition) {
  for (int n = 1; n <= 400; n += n < 60 ? 1 : 17)
    for (double p : {.1, .5, .9, .95, .99})
      for (double alpha2 : {.025, .005})
        EXPECT_EQ(quantile_ranks(n, p, alpha2), ranks_by_definition(n, p, alpha2))
            << n << " " << p << " " << alpha2;
}

TEST(OrderStatistics, RanksMirrorAroundTheMiddle) {
  for (std::int64_t n : {6, 37, 100, 999, 5000})
    for (double p : {.5, .75, .9, .99}) {
      const auto high = quantile_ranks(n, p, 0.025);
      const auto low = quantile_ranks(n, 1 - p, 0.025);
      EXPECT_EQ(high.l == 0 ? 0 : n + 1 - high.l, low.u);
      EXPECT_EQ(high.u == 0 ? 0 : n + 1 - high.u, low.l);
    }
}

TEST(OrderStatistics, CoverageIsNeverBelowNominal) {
  for (double p : {.5, .9, .99}) {
    int intervals = 0;
    for (std::int64_t n = 1; n <= 2000; ++n) {
      const auto ranks = quantile_ranks(n, p, 0.025);
      const bool both = ranks.l > 0 && ranks.u > 0;
      ASSERT_EQ(both, n >= required_n(p, 0.025)) << n << " " << p;
      if (!both) continue;
      ASSERT_GE(rank_coverage(n, p, ranks), 0.95) << n << " " << p;
      ++intervals;
    }
    EXPECT_EQ(intervals, 2001 - required_n(p, 0.025));
  }
}

TEST(OrderStatistics, ExactCoverageOfPublishedSizes) {
  const auto coverage = [](std::int64_t n, double p) {
    return rank_coverage(n, p, quantile_ranks(n, p, 0.025));
  };
  EXPECT_NEAR(coverage(10, .5), .979, .0006);
  EXPECT_NEAR(coverage(30, .5), .957, .0006);
  EXPECT_NEAR(coverage(100, .5), .965, .0006);
  EXPECT_NEAR(coverage(1000, .5), .954, .0006);
  EXPECT_NEAR(coverage(368, .99), .962, .0006);
  EXPECT_NEAR(coverage(1000, .99), .976, .0006);
}

TEST(OrderStatistics, SamplesAClaimNeeds) {
  const double p[] = {.5, .9, .95, .99, .999};
  const std::int64_t at_95[] = {6, 36, 72, 368, 3688};
  const std::int64_t at_99[] = {8, 51, 104, 528, 5296};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(required_n(p[i], 0.025), at_95[i]);
    EXPECT_EQ(required_n(p[i], 0.005), at_99[i]);
  }
  EXPECT_EQ(required_n(.1, 0.025), 36);
}

TEST(OrderStatistics, HighestClaimableQuantile) {
  EXPECT_NEAR(highest_claimable_p(100), 0.964, 0.0005);
  EXPECT_LT(highest_claimable_p(367), 0.99);
  EXPECT_GT(highest_claimable_p(368), 0.99);
  EXPECT_EQ(highest_claimable_p(0), 0);
}

TEST(OrderStatistics, NoSamplesNoRanks) {
  EXPECT_EQ(quantile_ranks(0, .5, .025), Ranks{});
  EXPECT_EQ(quantile_ranks(5, .5, .025), Ranks{});
}

}  // namespace
}  // namespace paceline::stats
