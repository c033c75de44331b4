// SPDX-License-Identifier: MIT
#include "stats/variance_components.h"

#include <gtest/gtest.h>

#include "series.h"

namespace paceline::stats {
namespace {

using Groups = std::vector<std::vector<double>>;

// F and its critical value as SciPy 1.17's f_oneway and f.ppf give them for the logarithms.
TEST(VarianceComponents, GroupsOfUnequalSize) {
  const auto v =
      variance_components(Groups{{10.0, 10.1, 9.9, 10.05}, {10.6, 10.5, 10.7}, {9.8, 9.9, 9.85, 9.75}});
  ASSERT_TRUE(v);
  EXPECT_NEAR(v->f, 78.65763290901167, 1e-9);
  EXPECT_NEAR(v->f_critical, 4.458970107524511, 1e-9);
  EXPECT_NEAR(v->within_frac, 0.00811195806953275, 1e-12);
  EXPECT_NEAR(v->between_frac, 0.0374872962555227, 1e-12);
  EXPECT_EQ(v->groups_df, 2);
  EXPECT_EQ(v->processes_df, 8);
  EXPECT_TRUE(v->differ());
}

TEST(VarianceComponents, GroupsThatOverlapVaryByNothingOfTheirOwn) {
  const auto v = variance_components(Groups{{10.0, 10.2, 9.8}, {10.1, 9.9, 10.0}, {9.9, 10.1, 10.0}});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->between_frac, 0);
  EXPECT_FALSE(v->differ());
}

TEST(VarianceComponents, TheUnitDoesNotMatter) {
  const Groups seconds{{1.0, 1.1, 1.05}, {1.3, 1.25, 1.4}};
  Groups nanoseconds = seconds;
  for (auto& group : nanoseconds)
    for (auto& value : group) value *= 1e9;
  EXPECT_NEAR(variance_components(seconds)->f, variance_components(nanoseconds)->f, 1e-6);
}

TEST(VarianceComponents, TooLittleSaysNothing) {
  EXPECT_FALSE(variance_components(Groups{}));
  EXPECT_FALSE(variance_components(Groups{{1.0, 1.1, 1.2}}));
  EXPECT_FALSE(variance_components(Groups{{1.0, 1.1, 1.2}, {1.3}}));
  EXPECT_FALSE(variance_components(Groups{{1.0, 1.0}, {1.3, 1.3}}));  // processes do not vary at all
}

// Without a difference between groups, "differ" is said as often as the confidence allows.
TEST(VarianceComponents, ChanceIsHeldAtFivePercent) {
  constexpr int kTrials = 2000;
  const double said = series::rate(kTrials, [](std::uint64_t seed) {
    const auto x = series::lognormal(15, seed, 0.02);
    const auto group = [&](std::ptrdiff_t first) {
      return std::vector<double>(x.begin() + first, x.begin() + first + 5);
    };
    return variance_components(Groups{group(0), group(5), group(10)})->differ();
  });
  EXPECT_NEAR(said, 0.05, series::tolerance(0.05, kTrials));
}

}  // namespace
}  // namespace paceline::stats
