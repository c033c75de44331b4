// SPDX-License-Identifier: MIT
#include "stats/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "series.h"
#include "stats/quantile.h"

namespace paceline::stats {
namespace {

double drift_rate(int trials, const std::function<std::vector<double>(std::uint64_t)>& draw) {
  return series::rate(trials, [&](std::uint64_t seed) { return drift(draw(seed))->flagged; });
}

std::vector<double> around_100(std::vector<double> x, double sd) {
  for (double& v : x) v = 100 + sd * v;
  return x;
}

TEST(Drift, SteadySeriesRarelyAlarm) {
  constexpr int kTrials = 1000;
  const double independent =
      drift_rate(kTrials, [](auto seed) { return series::normal(1000, seed, 100, 10); });
  EXPECT_LE(independent, .009 + series::tolerance(.009, kTrials));
  const double dependent =
      drift_rate(kTrials, [](auto seed) { return around_100(series::ar1(1000, seed, .5), 10); });
  EXPECT_LE(dependent, .009 + series::tolerance(.009, kTrials));
  const double strongly =
      drift_rate(kTrials, [](auto seed) { return around_100(series::ar1(1000, seed, .9), 3); });
  EXPECT_LE(strongly, .012 + series::tolerance(.012, kTrials));
}

std::vector<double> drifting(std::uint64_t seed, double total) {
  const CounterRng random(seed, 41);
  return series::make(1000, [&](std::uint64_t i) {
    return 100 * (1 + total * static_cast<double>(i) / 1000) * (1 + .03 * random.normal(i));
  });
}

TEST(Drift, PowerAgainstTwoPercent) {
  const double seen = drift_rate(500, [](auto seed) { return drifting(seed, .02); });
  EXPECT_NEAR(seen, .92, series::tolerance(.92, 500));
}

TEST(Drift, SizeSignAndSeverity) {
  const auto up = drift(drifting(1, .08));
  EXPECT_NEAR(up->total_frac, .08, .015);
  EXPECT_TRUE(up->invalid);
  const auto down = drift(drifting(1, -.03));
  EXPECT_NEAR(down->total_frac, -.03, .015);
  EXPECT_LT(down->z, 0);
  EXPECT_TRUE(down->flagged);
  EXPECT_FALSE(down->invalid);
}

TEST(Drift, KnownStatistic) {
  const auto rising = series::make(20, [](std::uint64_t i) { return 1 + static_cast<double>(i); });
  EXPECT_NEAR(drift(rising)->z, 189 / std::sqrt(20.0 * 19 * 45 / 18), 1e-12);
  EXPECT_EQ(drift(std::vector<double>(100, 5.0))->z, 0);
  EXPECT_FALSE(drift(std::vector<double>(19, 5.0)));
}

TEST(Dip, ClosedForms) {
  const auto even = series::make(50, [](std::uint64_t i) { return static_cast<double>(i); });
  EXPECT_NEAR(dip_statistic(even), 1.0 / 100, 1e-12);
  // Two far clumps: any unimodal distribution misses one of them by a quarter.
  auto clumps = series::make(
      1000, [](std::uint64_t i) { return (i < 500 ? 0 : 1000) + static_cast<double>(i) * 1e-3; });
  EXPECT_NEAR(dip_statistic(clumps), .25, .002);
}

// The 63 ratings of statistics faculties in Hartigan and Hartigan 1985, and their published dip.
TEST(Dip, PublishedExample) {
  const std::vector<double> faculty{30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41,
                                    42, 43, 43, 43, 44, 44, 45, 45, 46, 46, 47, 47, 48, 48, 48, 49,
                                    50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57, 57, 59, 60,
                                    60, 60, 61, 61, 61, 61, 62, 62, 62, 62, 63, 66, 70, 72, 72};
  EXPECT_NEAR(dip_statistic(faculty), .05952381, 1e-8);
}

TEST(Dip, DoesNotChangeWithScaleOrMirror) {
  const auto x = sorted_copy(series::normal(300, 6));
  auto y = x;
  for (double& v : y) v = 7 - 3 * v;
  std::reverse(y.begin(), y.end());
  EXPECT_NEAR(dip_statistic(x), dip_statistic(y), 1e-12);
}

TEST(Dip, CriticalPointsOfTheUniform) {
  struct Row {
    std::size_t n;
    double p99;
  };
  for (const auto& row : {Row{50, .58}, Row{1000, .62}}) {
    std::vector<double> dips;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed)
      dips.push_back(std::sqrt(static_cast<double>(row.n)) *
                     dip_statistic(sorted_copy(series::uniform(row.n, seed))));
    EXPECT_NEAR(nearest_rank(sorted_copy(dips), kPpmP99), row.p99, .03) << row.n;
  }
}

double multimodal_rate(int trials, double resolution,
                       const std::function<std::vector<double>(std::uint64_t)>& draw) {
  return series::rate(trials,
                      [&](std::uint64_t seed) { return multimodality(draw(seed), resolution)->flagged; });
}

TEST(Multimodality, TiesOfACoarseTimerNeedTheJitter) {
  const auto coarse = [](std::uint64_t seed) {
    auto x = series::normal(1000, seed, 100, 1);
    for (double& v : x) v = std::round(v / .5) * .5;
    return x;
  };
  const auto by_dip = [&](double resolution) {
    return series::rate(
        50, [&](std::uint64_t seed) { return multimodality(coarse(seed), resolution)->dip_sqrt_n > .6; });
  };
  EXPECT_EQ(by_dip(0), 1);
  EXPECT_EQ(by_dip(.5), 0);
  EXPECT_LE(multimodal_rate(50, .5, coarse), .02);
}

TEST(Multimodality, SkewedSeriesRarelyAlarm) {
  constexpr int kTrials = 300;
  const auto at_most = [&](double rate, const std::function<std::vector<double>(std::uint64_t)>& draw) {
    EXPECT_LE(multimodal_rate(kTrials, 0, draw), rate + std::max(series::tolerance(rate, kTrials), .01));
  };
  at_most(0, [](auto seed) { return series::exponential(300, seed); });
  at_most(0, [](auto seed) { return series::lognormal(300, seed, .7); });
  at_most(.01, [](auto seed) { return series::lognormal(300, seed, 1.2); });
  at_most(.037, [](auto seed) { return series::pareto(300, seed, 1.5); });
}

// 80 % at 100, 20 % at 110, both with a spread of 2.
std::vector<double> split(std::uint64_t seed, std::size_t n = 300, double far_share = .2) {
  const CounterRng random(seed, 51);
  const CounterRng side(seed, 52);
  return series::make(
      n, [&](std::uint64_t i) { return (side.uniform(i) < far_share ? 110 : 100) + 2 * random.normal(i); });
}

TEST(Multimodality, FindsASplit) {
  EXPECT_GE(multimodal_rate(200, 0, [](auto seed) { return split(seed); }), .93);
}

TEST(Multimodality, ReportsEachMode) {
  const auto m = multimodality(split(1, 2000), 0);
  ASSERT_TRUE(m->flagged);
  ASSERT_EQ(m->modes.size(), 2U);
  EXPECT_NEAR(m->modes[0].median, 100, .3);
  EXPECT_NEAR(m->modes[1].median, 110, .5);
  EXPECT_NEAR(m->modes[0].share, .8, .03);
  EXPECT_NEAR(m->modes[0].share + m->modes[1].share, 1, 1e-12);
}

TEST(Multimodality, AFewSlowOnesAreATailNotAMode) {
  const auto m = multimodality(split(1, 2000, .05), 0);
  EXPECT_FALSE(m->flagged);
  EXPECT_EQ(m->rule, "");
  EXPECT_TRUE(m->modes.empty());
}

TEST(Multimodality, SharesDecideWhetherMediansCompare) {
  const auto a = *multimodality(split(1, 2000, .2), 0);
  const auto b = *multimodality(split(2, 2000, .22), 0);
  const auto c = *multimodality(split(3, 2000, .4), 0);
  EXPECT_FALSE(mode_shares_differ(a, b));
  EXPECT_TRUE(mode_shares_differ(a, c));
}

TEST(Multimodality, SmallAndConstantSamples) {
  EXPECT_FALSE(multimodality(std::vector<double>(49, 1.0), 0));
  const auto constant = multimodality(std::vector<double>(500, 1.0), 0);
  EXPECT_FALSE(constant->flagged);
}

TEST(Succession, AValueByHand) {
  const std::vector<double> rising{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_NEAR(*succession_z(rising), 3.2509, 1e-4);  // steps 9, spread 82.5, variance 0.33832
  EXPECT_LT(*succession_z(std::vector<double>{1, 10, 2, 9, 3, 8, 4, 7, 5, 6}), -1);
  EXPECT_EQ(*succession_z(std::vector<double>(12, 5.0)), 0);
  EXPECT_FALSE(succession_z(std::vector<double>(9, 5.0)));
}

TEST(Succession, IndependentValuesAreRarelyFlaggedAndAlikeOnesMostly) {
  const auto flagged = [](std::uint64_t seed, std::size_t n, double phi) {
    return *succession_z(series::ar1(n, seed, phi)) > 2.58;
  };
  EXPECT_LE(series::rate(2000, [&](auto seed) { return flagged(seed, 10, 0); }), 0.012);
  EXPECT_LE(series::rate(2000, [&](auto seed) { return flagged(seed, 48, 0); }), 0.012);
  EXPECT_GE(series::rate(500, [&](auto seed) { return flagged(seed, 48, 0.7); }), 0.95);
}

}  // namespace
}  // namespace paceline::stats
