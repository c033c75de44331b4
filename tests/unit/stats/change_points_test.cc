// SPDX-License-Identifier: MIT
#include "stats/change_points.h"

#include <gtest/gtest.h>

#include <cmath>

#include "series.h"

namespace paceline::stats {
namespace {

constexpr int kSeries = 200;

std::vector<double> stepped(std::size_t n, std::size_t at, double shift, double sd, std::uint64_t seed) {
  auto x = series::lognormal(n, seed, sd);
  for (std::size_t i = at; i < n; ++i) x[i] *= 1 + shift;
  return x;
}

std::size_t false_points(const Changes& changes, std::size_t at, std::size_t reach) {
  std::size_t count = 0;
  for (const auto& point : changes.points)
    count += point.first + reach < at || point.first > at + reach ? 1 : 0;
  return count;
}

TEST(ChangePoints, AStepWithoutNoiseIsFoundWhereverItIs) {
  for (std::size_t n : {8U, 30U, 120U})
    for (std::size_t at = 4; at + 4 <= n; ++at) {
      const auto found = change_points(stepped(n, at, 0.05, 0, 1));
      ASSERT_EQ(found.points.size(), 1U) << n << " " << at;
      EXPECT_EQ(found.points[0].first, at);
      EXPECT_NEAR(found.points[0].change(), 0.05, 1e-12);
    }
}

TEST(ChangePoints, ASeriesWithoutChangeHasNone) {
  int series_with_points = 0;
  for (int seed = 0; seed < kSeries; ++seed)
    series_with_points +=
        change_points(stepped(100, 0, 0, 0.03, static_cast<std::uint64_t>(seed))).points.empty() ? 0 : 1;
  EXPECT_LE(series_with_points, kSeries / 25);
  EXPECT_TRUE(change_points(std::vector<double>(60, 2.5)).points.empty());
}

TEST(ChangePoints, AStepOfThreeSigmasIsFoundAtItsPlace) {
  int found = 0;
  std::size_t others = 0;
  for (int seed = 0; seed < kSeries; ++seed) {
    const auto changes = change_points(stepped(100, 60, 0.1, 0.03, static_cast<std::uint64_t>(seed)));
    others += false_points(changes, 60, 2);
    found += changes.points.size() > false_points(changes, 60, 2) ? 1 : 0;
  }
  EXPECT_GE(found, kSeries * 95 / 100);
  EXPECT_LE(others, static_cast<std::size_t>(kSeries / 20));
}

TEST(ChangePoints, OneToThreeValuesAtTheEndAreWatchedAndFourAreAChange) {
  for (std::size_t count = 1; count <= 4; ++count) {
    const auto changes = change_points(stepped(40 + count, 40, 0.3, 0.01, 7));
    EXPECT_EQ(changes.points.size(), count == 4 ? 1U : 0U) << count;
    ASSERT_EQ(changes.watch.has_value(), count < 4) << count;
    if (!changes.watch) continue;
    EXPECT_EQ(changes.watch->first, 40U);
    EXPECT_NEAR(changes.watch->value / changes.watch->level, 1.3, 0.03);
  }
}

TEST(ChangePoints, OneOutlierAnywhereIsNoChange) {
  for (std::size_t at = 0; at < 40; ++at) {
    auto x = series::lognormal(40, 11, 0.01);
    x[at] *= 3;
    const auto changes = change_points(x);
    EXPECT_TRUE(changes.points.empty()) << at;
    EXPECT_EQ(changes.watch.has_value(), at == 39) << at;
  }
}

TEST(ChangePoints, EveryLevelOfSeveralIsFound) {
  auto x = series::lognormal(200, 3, 0.01);
  for (std::size_t i = 50; i < 100; ++i) x[i] *= 1.1;
  for (std::size_t i = 100; i < 140; ++i) x[i] *= 0.9;
  const auto found = change_points(x).points;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].first, 50U);
  EXPECT_EQ(found[1].first, 100U);
  EXPECT_EQ(found[2].first, 140U);
  EXPECT_NEAR(found[1].change(), 0.9 / 1.1 - 1, 0.01);
}

TEST(ChangePoints, ValuesAppendedKeepWhatWasFoundBefore) {
  auto x = series::lognormal(300, 5, 0.01);
  for (std::size_t i = 70; i < 300; ++i) x[i] *= 1.05;
  const auto before = change_points(std::span(x).first(200)).points;
  const auto after = change_points(x).points;
  ASSERT_EQ(before.size(), 1U);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(before[0].first, after[0].first);
  EXPECT_EQ(before[0].p, after[0].p);
}

TEST(ChangePoints, TooFewValuesAndValuesWithoutLogarithmHaveNone) {
  EXPECT_TRUE(change_points(std::vector<double>{1, 1, 1, 9, 9, 9, 9}).points.empty());
  EXPECT_TRUE(change_points(std::vector<double>{}).points.empty());
  EXPECT_TRUE(change_points(std::vector<double>{1, 1, 1, 1, 0, 9, 9, 9, 9}).points.empty());
  EXPECT_TRUE(change_points(std::vector<double>{1, 1, 1, 1, NAN, 9, 9, 9, 9}).points.empty());
}

}  // namespace
}  // namespace paceline::stats
