// SPDX-License-Identifier: MIT
#include "stats/quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "series.h"

namespace paceline::stats {
namespace {

std::vector<double> one_to(std::size_t n) {
  std::vector<double> x(n);
  std::iota(x.begin(), x.end(), 1.0);
  return x;
}

// Smallest k with k / n >= ppm / 10^6, in integers.
std::uint64_t rank_by_definition(std::uint64_t n, std::uint64_t ppm) {
  auto k = n * ppm / kPpmOne;
  while (k * kPpmOne < n * ppm) ++k;
  return std::max<std::uint64_t>(k, 1);
}

TEST(Quantile, NearestRankIsExactForEverySize) {
  const auto all = one_to(100'000);
  const std::span<const double> x(all);
  for (std::uint64_t n = 1; n <= all.size(); n += n < 3000 ? 1 : 97)
    for (std::uint32_t ppm :
         {1U, 100'000U, 500'000U, 900'000U, 950'000U, 990'000U, 999'000U, 999'999U, 1'000'000U})
      ASSERT_EQ(nearest_rank(x.first(n), ppm), static_cast<double>(rank_by_definition(n, ppm)))
          << n << " " << ppm;
}

TEST(Quantile, P99OfAHundredIsThe99thNotTheMaximum) {
  const auto x = one_to(100);
  EXPECT_EQ(nearest_rank(x, kPpmP99), 99);
  for (std::size_t n = 100; n <= 10'000; n += 100)
    ASSERT_EQ(nearest_rank(one_to(n), kPpmP99), static_cast<double>(n / 100 * 99));
}

TEST(Quantile, MedianIsTheMeanOfTheMiddle) {
  EXPECT_EQ(median(std::vector<double>{3}), 3);
  EXPECT_EQ(median(std::vector<double>{4, 1}), 2.5);
  EXPECT_EQ(median(std::vector<double>{9, 1, 4}), 4);
  EXPECT_EQ(median(std::vector<double>{9, 1, 4, 6}), 5);
  EXPECT_EQ(quantile(std::vector<double>{1, 4, 6, 9}, kPpmP50), 5);
  EXPECT_EQ(quantile(std::vector<double>{1, 4, 6, 9}, kPpmP90), 9);
}

TEST(Quantile, MedianAgreesWithSorting) {
  for (std::size_t n = 1; n < 200; ++n) {
    const auto x = series::normal(n, n);
    ASSERT_EQ(median(x), median_sorted(sorted_copy(x)));
  }
}

TEST(Quantile, EmptySamplesAreAnError) {
  EXPECT_THROW((void)median({}), Error);
  EXPECT_THROW((void)nearest_rank({}, kPpmP99), Error);
}

TEST(Quantile, OrderDoesNotMatterWithoutDependence) {
  const auto x = series::normal(1000, 3, 10);
  auto reversed = x;
  std::reverse(reversed.begin(), reversed.end());
  const auto a = estimate_quantile(x, kPpmP90);
  const auto b = estimate_quantile(reversed, kPpmP90);
  EXPECT_EQ(a.value, b.value);
  EXPECT_NEAR(a.n_eff, b.n_eff, 1e-9 * a.n_eff);
  EXPECT_EQ(a.ci_low, b.ci_low);
  EXPECT_EQ(a.ci_high, b.ci_high);
}

TEST(Quantile, MonotoneTransformsCarryTheWholeEstimate) {
  const auto x = series::normal(1000, 4);
  std::vector<double> y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), [](double v) { return std::exp(v); });
  const auto a = estimate_quantile(x, kPpmP90);
  const auto b = estimate_quantile(y, kPpmP90);
  EXPECT_EQ(std::exp(*a.value), *b.value);
  EXPECT_EQ(std::exp(*a.ci_low), *b.ci_low);
  EXPECT_EQ(std::exp(*a.ci_high), *b.ci_high);
  EXPECT_EQ(a.n_eff, b.n_eff);
}

TEST(Quantile, IntervalBracketsItsValue) {
  for (std::uint64_t seed = 1; seed < 40; ++seed)
    for (std::uint32_t ppm : {kPpmP50, kPpmP90, kPpmP95}) {
      const auto e = estimate_quantile(series::ar1(800, seed, .5), ppm);
      ASSERT_TRUE(e.value) << e.reason;
      ASSERT_LE(*e.ci_low, *e.value);
      ASSERT_GE(*e.ci_high, *e.value);
      ASSERT_GE(*e.actual_coverage, 0.95);
      ASSERT_TRUE(e.reason.empty());
    }
}

TEST(Quantile, RanksAreUsedAsTheyAreForIndependentSamples) {
  // Alternating around the median: negatively dependent, so tau is 1 and n_eff is n.
  std::vector<double> x(100);
  for (std::size_t i = 0; i < 100; ++i) x[i] = static_cast<double>(i % 2 == 0 ? i / 2 + 1 : 100 - i / 2);
  const auto e = estimate_quantile(x, kPpmP50);
  EXPECT_EQ(e.n_eff, 100);
  EXPECT_EQ(e.value, 50.5);
  EXPECT_EQ(e.ci_low, 40);
  EXPECT_EQ(e.ci_high, 61);
}

TEST(Quantile, RanksOfDependentSamplesAreStretched) {
  const auto x = series::ar1(1000, 5, .6);
  const auto sorted = sorted_copy(x);
  const auto e = estimate_quantile(x, sorted, kPpmP90, .95);
  const auto m = static_cast<std::int64_t>(e.n_eff);
  ASSERT_LT(m, 700);
  const auto ranks = quantile_ranks(m, .9, .025);
  const auto low = static_cast<std::size_t>((ranks.l - 1) * 1000 / m + 1);
  const auto high = static_cast<std::size_t>((ranks.u * 1000 + m - 1) / m);
  EXPECT_EQ(*e.ci_low, sorted[low - 1]);
  EXPECT_EQ(*e.ci_high, sorted[high - 1]);
}

TEST(Quantile, WithheldBelowTheSamplesItNeeds) {
  const auto x = series::normal(300, 5, 100);
  const auto p99 = estimate_quantile(x, kPpmP99);
  EXPECT_FALSE(p99.value);
  EXPECT_FALSE(p99.ci_low);
  EXPECT_FALSE(p99.ci_high);
  EXPECT_EQ(p99.reason, kInsufficientSamples);
  EXPECT_GT(p99.n_eff, 0);
  EXPECT_TRUE(estimate_quantile(x, kPpmP95).value);
  const auto five = estimate_quantile(std::vector<double>{1, 2, 3, 4, 5}, kPpmP50);
  EXPECT_FALSE(five.value);
}

TEST(Quantile, DependenceTakesTheClaimAway) {
  const auto x = series::ar1(1000, 9, .98);
  EXPECT_TRUE(estimate_quantile(series::normal(1000, 9), kPpmP99).value);
  const auto p99 = estimate_quantile(x, kPpmP99);
  EXPECT_FALSE(p99.value);
  EXPECT_LT(p99.n_eff, 368);
}

TEST(Quantile, RelativeHalfwidthTakesTheWiderSide) {
  QuantileEstimate e;
  e.value = 10;
  e.ci_low = 9;
  e.ci_high = 10.5;
  EXPECT_DOUBLE_EQ(*relative_halfwidth(e), 0.1);
  EXPECT_FALSE(relative_halfwidth(missing_quantile(kPpmP50, .95, kBatched)));
  EXPECT_EQ(missing_quantile(kPpmP99, .95, kBatched).reason, "batched");
}

}  // namespace
}  // namespace paceline::stats
