// SPDX-License-Identifier: MIT
#include "stats/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "series.h"
#include "stats/order_statistics.h"
#include "stats/quantile.h"
#include "stats/signed_rank.h"

namespace paceline::stats {
namespace {

struct Pairs {
  std::vector<double> a, b;
};

// R process pairs of 50 ms with a between-process spread; B is `shift` slower.
Pairs make_pairs(int pairs, double between_sd, double shift, std::uint64_t seed) {
  const CounterRng random(seed, 31);
  Pairs p;
  for (int i = 0; i < pairs; ++i) {
    const auto k = static_cast<std::uint64_t>(2 * i);
    p.a.push_back(50e6 * std::exp(between_sd * random.normal(k)));
    p.b.push_back(50e6 * (1 + shift) * std::exp(between_sd * random.normal(k + 1)));
  }
  return p;
}

struct Rates {
  double regression, improvement, equivalent;
};

constexpr int kCompareTrials = 4000;

Rates characteristic(int pairs, double between_sd, double shift) {
  std::map<Verdict, int> count;
  for (int seed = 1; seed <= kCompareTrials; ++seed) {
    const auto p = make_pairs(pairs, between_sd, shift, static_cast<std::uint64_t>(seed));
    ++count[compare_pairs(p.a, p.b).verdict];
  }
  const auto rate = [&](Verdict v) { return static_cast<double>(count[v]) / kCompareTrials; };
  return {rate(Verdict::kRegression), rate(Verdict::kImprovement), rate(Verdict::kEquivalent)};
}

double slack(double rate) {
  return std::max(series::tolerance(rate, kCompareTrials), 0.005);
}

TEST(Verdict, OperatingCharacteristic) {
  struct Row {
    double sd, false_alarm, at_five, equivalent;
  };
  for (const auto& row : {Row{.003, 0, 1, .98}, Row{.01, 0, 1, .93}, Row{.02, .001, .89, .24}}) {
    const auto none = characteristic(10, row.sd, 0);
    EXPECT_NEAR(none.regression, row.false_alarm, slack(row.false_alarm)) << row.sd;
    EXPECT_NEAR(none.improvement, row.false_alarm, slack(row.false_alarm)) << row.sd;
    EXPECT_NEAR(characteristic(10, row.sd, .05).regression, row.at_five, slack(row.at_five)) << row.sd;
  }
  EXPECT_GE(characteristic(10, .02, .10).regression, .995);
  EXPECT_NEAR(characteristic(10, .01, 0).equivalent, .93, .07);
  EXPECT_NEAR(characteristic(10, .02, 0).equivalent, .24, .10);
}

TEST(Verdict, SameAgainstSameRarelyAlarms) {
  const auto rates = characteristic(6, .025, 0);
  EXPECT_LE(rates.regression, .025);
  EXPECT_LE(rates.improvement, .025);
}

TEST(Verdict, IsAntisymmetric) {
  const std::map<Verdict, Verdict> mirror{{Verdict::kRegression, Verdict::kImprovement},
                                          {Verdict::kImprovement, Verdict::kRegression},
                                          {Verdict::kEquivalent, Verdict::kEquivalent},
                                          {Verdict::kInconclusive, Verdict::kInconclusive}};
  std::map<Verdict, int> seen;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto p = make_pairs(8, .02, .03 * static_cast<double>(seed % 5) - .06, seed);
    const auto forth = compare_pairs(p.a, p.b);
    const auto back = compare_pairs(p.b, p.a);
    ++seen[forth.verdict];
    ASSERT_EQ(back.verdict, mirror.at(forth.verdict));
    ASSERT_NEAR(back.estimate_ratio * forth.estimate_ratio, 1, 1e-12);
    ASSERT_NEAR(back.ci_ratio->low * forth.ci_ratio->high, 1, 1e-12);
    ASSERT_NEAR(back.hodges_lehmann_ci->low * forth.hodges_lehmann_ci->high, 1, 1e-12);
    ASSERT_EQ(back.p_sign, forth.p_sign);
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST(Verdict, HigherIsBetterSwapsTheSides) {
  const auto p = make_pairs(10, .003, .10, 1);
  CompareConfig config;
  EXPECT_EQ(compare_pairs(p.a, p.b, config).verdict, Verdict::kRegression);
  config.better = Better::kHigher;
  const auto rate = compare_pairs(p.a, p.b, config);
  EXPECT_EQ(rate.verdict, Verdict::kImprovement);
  EXPECT_NEAR(rate.estimate_ratio, 1.1, .01);
}

TEST(Verdict, RuleOnIntervals) {
  const double d = std::log1p(.03);
  EXPECT_EQ(verdict({.001, .2}, d, .03), Verdict::kRegression);
  EXPECT_EQ(verdict({.001, .2}, d * .99, .03), Verdict::kInconclusive);
  EXPECT_EQ(verdict({-.001, .2}, d, .03), Verdict::kInconclusive);
  EXPECT_EQ(verdict({-.2, -.001}, -d, .03), Verdict::kImprovement);
  EXPECT_EQ(verdict({.01, .02}, .015, .03), Verdict::kEquivalent);
}

TEST(Compare, FewerThanSixPairsHaveNoInterval) {
  const auto p = make_pairs(5, .001, .5, 1);
  const auto c = compare_pairs(p.a, p.b);
  EXPECT_FALSE(c.ci_ratio);
  EXPECT_FALSE(c.actual_coverage);
  EXPECT_EQ(c.reason, "fewer than six pairs");
  EXPECT_EQ(c.verdict, Verdict::kInconclusive);
  EXPECT_NEAR(c.estimate_ratio, 1.5, .01);
}

TEST(Compare, IntervalIsTheOrderStatistics) {
  const std::vector<double> a(10, 100);
  const std::vector<double> b{101, 102, 103, 104, 105, 106, 107, 108, 109, 110};
  const auto c = compare_pairs(a, b);
  EXPECT_NEAR(c.ci_ratio->low, 1.02, 1e-12);
  EXPECT_NEAR(c.ci_ratio->high, 1.09, 1e-12);
  EXPECT_NEAR(c.estimate_ratio, std::sqrt(1.05 * 1.06), 1e-12);
  EXPECT_NEAR(*c.actual_coverage, .9785, 1e-4);
  EXPECT_NEAR(c.p_sign, 2.0 / 1024, 1e-12);
  EXPECT_EQ(c.verdict, Verdict::kRegression);
}

TEST(Compare, AgainstItselfDoublesTheThreshold) {
  const auto p = make_pairs(10, .003, .05, 1);
  CompareConfig config;
  config.aa_halfwidth = .04;
  const auto c = compare_pairs(p.a, p.b, config);
  EXPECT_EQ(c.delta, .08);
  EXPECT_NE(c.verdict, Verdict::kRegression);
}

TEST(Compare, TiesCountAgainstADifference) {
  const std::vector<double> a(10, 100);
  EXPECT_EQ(compare_pairs(a, a).p_sign, 1);
  EXPECT_EQ(compare_pairs(a, a).verdict, Verdict::kEquivalent);
  auto b = a;
  for (std::size_t i = 0; i < 8; ++i) b[i] = 101;
  EXPECT_NEAR(compare_pairs(a, b).p_sign, 2 * 56.0 / 1024, 1e-12);
}

TEST(Compare, BadPairsAreRefused) {
  const std::vector<double> two{1, 2};
  const std::vector<double> three{1, 2, 3};
  const std::vector<double> zero{1, 0};
  EXPECT_THROW((void)compare_pairs(two, three), Error);
  EXPECT_THROW((void)compare_pairs({}, {}), Error);
  EXPECT_THROW((void)compare_pairs(two, zero), Error);
}

TEST(Compare, IntervalHoldsTheTruth) {
  const double seen = series::rate(2000, [](std::uint64_t seed) {
    const auto p = make_pairs(6, .05, -.2, seed);
    const auto c = compare_pairs(p.a, p.b);
    return c.ci_ratio->low <= 0.8 && 0.8 <= c.ci_ratio->high;
  });
  EXPECT_NEAR(seen, .958, series::tolerance(.958, 2000));
}

// One pair of six next to 1 does not hide what the others show; one far away widens nothing.
TEST(Compare, StudentsTCutsWhatTheExtremesReachBeyond) {
  const std::vector<double> a(6, 100);
  const auto near = compare_pairs(a, std::vector<double>{131, 99, 133, 128, 130, 132});
  EXPECT_GT(near.ci_ratio->low, 1.05);
  EXPECT_NEAR(near.ci_ratio->high, 1.33, 1e-9);
  const auto far = compare_pairs(a, std::vector<double>{131, 129, 133, 128, 130, 900});
  EXPECT_NEAR(far.ci_ratio->low, 1.28, 1e-9);
  const std::vector<double> more(9, 100);
  EXPECT_NEAR(
      compare_pairs(more, std::vector<double>{131, 99, 133, 128, 130, 132, 129, 127, 134}).ci_ratio->low,
      1.27, 1e-9);
}

TEST(SignedRank, IntervalOfSixIsTheWholeRange) {
  const std::vector<double> d{.1, .2, .3, .4, .5, .6};
  const auto e = signed_rank_estimate(d, .025);
  EXPECT_NEAR(e.value, .35, 1e-12);
  EXPECT_EQ(e.ci->low, .1);
  EXPECT_EQ(e.ci->high, .6);
  EXPECT_FALSE(signed_rank_estimate(std::span(d).first(5), .025).ci);
}

// Published critical value: n = 10 rejects at W <= 8, so the interval ends at the 9th Walsh average.
TEST(SignedRank, TabulatedCriticalValue) {
  const auto d = series::normal(10, 3);
  std::vector<double> walsh;
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = i; j < 10; ++j) walsh.push_back((d[i] + d[j]) / 2);
  std::sort(walsh.begin(), walsh.end());
  const auto e = signed_rank_estimate(d, .025);
  EXPECT_EQ(e.ci->low, walsh[8]);
  EXPECT_EQ(e.ci->high, walsh[55 - 9]);
}

TEST(Holm, AdjustsInOrderAndKeepsPlaces) {
  const auto p = holm(std::vector<double>{.01, .04, .03, .005});
  EXPECT_NEAR(p[3], .02, 1e-12);
  EXPECT_NEAR(p[0], .03, 1e-12);
  EXPECT_NEAR(p[2], .06, 1e-12);
  EXPECT_NEAR(p[1], .06, 1e-12);
  EXPECT_EQ(holm(std::vector<double>{.9, .8})[0], 1);
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace paceline::stats
