// SPDX-License-Identifier: MIT
#include "stats/outliers.h"

#include <gtest/gtest.h>

#include "series.h"
#include "stats/quantile.h"

namespace paceline::stats {
namespace {

TEST(Outliers, InjectedSpikesAreCountedAndKept) {
  auto x = series::normal(1000, 1, 100, 1);
  for (const std::size_t i : {17U, 400U, 999U}) x[i] = 300;
  const auto before = x;
  const auto p99 = nearest_rank(sorted_copy(x), kPpmP99);
  const auto found = classify_outliers(x, 0.01);
  EXPECT_EQ(found.severe, (std::vector<std::int64_t>{17, 400, 999}));
  EXPECT_EQ(x, before);
  EXPECT_EQ(nearest_rank(sorted_copy(x), kPpmP99), p99);
  EXPECT_NEAR(found.severe_time_share, 900.0 / (997 * 100 + 900), 1e-3);
  EXPECT_NEAR(*found.median_excl_severe, 100, .2);
}

TEST(Outliers, MildAndSevereAreDisjoint) {
  std::vector<double> x;
  for (int i = 0; i < 100; ++i) x.push_back(i % 2 == 0 ? 99 : 101);
  x.push_back(107);  // 7 / 1.4826: mild
  x.push_back(130);
  x.insert(x.end(), {100, 99, 99});
  const auto found = classify_outliers(x, 0);
  EXPECT_EQ(found.mild, (std::vector<std::int64_t>{100}));
  EXPECT_EQ(found.severe, (std::vector<std::int64_t>{101}));
}

TEST(Outliers, EachSideHasItsOwnMeasure) {
  auto x = series::lognormal(2000, 3, 1.0);
  x[5] = -3;  // far below the narrow left side, unremarkable on the right
  const auto found = classify_outliers(x, 0);
  EXPECT_TRUE(std::find(found.mild.begin(), found.mild.end(), 5) != found.mild.end() ||
              std::find(found.severe.begin(), found.severe.end(), 5) != found.severe.end());
}

TEST(Outliers, ConstantDataOfACoarseTimer) {
  std::vector<double> x(100, 50);
  EXPECT_TRUE(classify_outliers(x, 1).severe.empty());
  EXPECT_TRUE(classify_outliers(x, 0).severe.empty());
  x[3] = 51;
  EXPECT_TRUE(classify_outliers(x, 1).mild.empty());  // one step of the clock
  x[4] = 60;
  EXPECT_EQ(classify_outliers(x, 1).severe, (std::vector<std::int64_t>{4}));
}

TEST(Outliers, CleanSkewedSeriesShowHowManyADropWouldDelete) {
  double marked = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto x = series::lognormal(1000, seed, .5);
    for (double& v : x) v += 1;
    const auto found = classify_outliers(x, 0);
    marked += static_cast<double>(found.mild.size() + found.severe.size()) / 1000;
  }
  EXPECT_GT(marked / 50, .002);
  EXPECT_LT(marked / 50, .08);
}

}  // namespace
}  // namespace paceline::stats
