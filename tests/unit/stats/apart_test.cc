// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "stats/compare.h"
#include "stats/holm.h"

namespace paceline::stats {
namespace {

// Processes of one side: lognormal around `median`.
std::vector<double> processes(double median, double sd, std::size_t n, std::uint64_t seed) {
  const CounterRng random(seed, 11);
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = median * std::exp(sd * random.normal(i));
  return values;
}

TEST(CompareApart, IsMoverOnLogs) {
  const std::vector<double> a{9, 10, 10, 10, 10, 12}, b{19, 20, 20, 20, 20, 22};
  const auto found = compare_apart(a, b);
  EXPECT_DOUBLE_EQ(found.estimate_ratio, 2);
  const double below = std::hypot(std::log(20.0 / 19), std::log(12.0 / 10));
  const double above = std::hypot(std::log(22.0 / 20), std::log(10.0 / 9));
  EXPECT_NEAR(found.ci_ratio->low, 2 * std::exp(-below), 1e-12);
  EXPECT_NEAR(found.ci_ratio->high, 2 * std::exp(above), 1e-12);
  EXPECT_EQ(found.verdict, Verdict::kInconclusive);
  EXPECT_EQ(found.apart_verdict, Verdict::kRegression);
}

TEST(CompareApart, SidesSwappedGiveTheInverseInterval) {
  const auto a = processes(10, 0.02, 8, 1), b = processes(11, 0.03, 7, 2);
  const auto found = compare_apart(a, b), back = compare_apart(b, a);
  EXPECT_NEAR(found.estimate_ratio * back.estimate_ratio, 1, 1e-12);
  EXPECT_NEAR(found.ci_ratio->low * back.ci_ratio->high, 1, 1e-12);
  EXPECT_EQ(found.apart_verdict, Verdict::kRegression);
  EXPECT_EQ(back.apart_verdict, Verdict::kImprovement);
}

TEST(CompareApart, CoversTheTrueRatio) {
  constexpr int kRuns = 2000;
  int covered = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const auto found =
        compare_apart(processes(10, 0.03, 10, 2 * seed), processes(10.5, 0.05, 10, 2 * seed + 1));
    covered += found.ci_ratio->low <= 1.05 && 1.05 <= found.ci_ratio->high ? 1 : 0;
  }
  EXPECT_GT(covered, 0.94 * kRuns);
}

TEST(CompareApart, OneProcessHasNoInterval) {
  const std::vector<double> one{10}, more{10, 11, 12};
  for (const auto& found : {compare_apart(one, more), compare_apart(more, one), compare_apart(one, one)}) {
    EXPECT_FALSE(found.ci_ratio);
    EXPECT_NE(found.reason.find("one process"), std::string::npos);
    EXPECT_EQ(found.apart_verdict, Verdict::kInconclusive);
  }
  EXPECT_THROW(compare_apart({}, one), Error);
  EXPECT_THROW(compare_apart(one, std::vector<double>{0.0}), Error);
}

TEST(Holm, AdjustsFromTheSmallestOn) {
  EXPECT_EQ(holm(std::vector<double>{0.01, 0.04, 0.03}), (std::vector<double>{0.03, 0.06, 0.06}));
  EXPECT_EQ(holm(std::vector<double>{0.5, 0.9}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

TEST(Holm, TellsThePairsThatManyTestsNeed) {
  EXPECT_EQ(pairs_for_tests(1, 0.05), 6);
  EXPECT_EQ(pairs_for_tests(2, 0.05), 7);
  EXPECT_EQ(pairs_for_tests(10, 0.05), 9);
  EXPECT_EQ(pairs_for_tests(25, 0.05), 10);
}

// Equal sides in suites of ten: some suite claims something in at most 5 %.
TEST(Holm, KeepsTheRateOfSuitesWithAFalseClaim) {
  constexpr int kSuites = 1000, kCases = 10;
  int wrong = 0;
  for (std::uint64_t suite = 0; suite < kSuites; ++suite) {
    std::vector<double> p;
    for (std::uint64_t one = 0; one < kCases; ++one) {
      const auto seed = 2 * (suite * kCases + one);
      p.push_back(compare_pairs(processes(10, 0.02, 10, seed), processes(10, 0.02, 10, seed + 1)).p_sign);
    }
    const auto adjusted = holm(p);
    wrong += *std::ranges::min_element(adjusted) <= 0.05 ? 1 : 0;
  }
  EXPECT_LE(wrong, 0.05 * kSuites);
  EXPECT_GT(wrong, 0);  // it does claim
}

}  // namespace
}  // namespace paceline::stats
