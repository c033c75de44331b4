// SPDX-License-Identifier: MIT
#include "stats/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "base/error.h"
#include "series.h"
#include "stats/order_statistics.h"
#include "stats/quantile.h"

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
  const auto far = compare_pairs(a, std::vector<double>{131, 129, 133, 128, 130, 160});
  EXPECT_NEAR(far.ci_ratio->low, 1.28, 1e-9);
  const std::vector<double> more(9, 100);
  EXPECT_NEAR(
      compare_pairs(more, std::vector<double>{131, 99, 133, 128, 130, 132, 129, 127, 134}).ci_ratio->low,
      1.27, 1e-9);
}

// Differences of log times of equal sides, by their shape.
using Difference = double (*)(const CounterRng& random, std::uint64_t i);
double difference_of_uniforms(const CounterRng& random, std::uint64_t i) {
  return random.uniform(i) - 0.5;
}
double difference_of_two_speeds(const CounterRng& random, std::uint64_t i) {
  const auto slow = [&](std::uint64_t draw) { return random.uniform(draw) < 0.3 ? 0.4 : 0.0; };
  return slow(i) - slow(100 + i) + 0.02 * random.normal(200 + i);
}
double difference_of_laplace(const CounterRng& random, std::uint64_t i) {
  return std::log(random.uniform(i)) - std::log(random.uniform(100 + i));
}
double difference_of_t3(const CounterRng& random, std::uint64_t i) {
  double squares = 0;
  for (std::uint64_t k = 1; k <= 3; ++k) squares += std::pow(random.normal(100 * k + i), 2);
  return random.normal(i) / std::sqrt(squares / 3);
}
// Signs are even, and sizes those of `Sizes`, each with its share.
template <const std::array<std::pair<double, double>, 3>& Sizes>
double difference_of_sizes(const CounterRng& random, std::uint64_t i) {
  double draw = random.uniform(i);
  const double sign = random.uniform(100 + i) < 0.5 ? -1 : 1;
  for (const auto& [size, share] : Sizes)
    if ((draw -= share) < 0) return sign * size;
  return 0;
}
constexpr std::array<std::pair<double, double>, 3> kOneSize{{{1, 1}}};
constexpr std::array<std::pair<double, double>, 3> kSomeAreNothing{{{1, 0.83}, {1e-4, 0.17}}};
// The worst that a search over three sizes and their shares found for six pairs: 4.7 %.
constexpr std::array<std::pair<double, double>, 3> kWorstOfThree{{{1, 0.79}, {0.26, 0.104}, {2e-4, 0.106}}};
double difference_of_normals(const CounterRng& random, std::uint64_t i) {
  return random.normal(i);
}

constexpr int kShapeTrials = 20000;

// Share of comparisons of which `event` holds for the interval; `shift` and `spread` of the log ratios.
double share_of(int pairs, Difference difference, double shift, double spread,
                bool (*event)(const Comparison& found)) {
  int count = 0;
  for (std::uint64_t seed = 1; seed <= kShapeTrials; ++seed) {
    const CounterRng random(seed, 5);
    Pairs p;
    for (int i = 0; i < pairs; ++i) {
      p.a.push_back(1e6);
      p.b.push_back(1e6 * std::exp(shift + spread * difference(random, static_cast<std::uint64_t>(i))));
    }
    count += event(compare_pairs(p.a, p.b)) ? 1 : 0;
  }
  return static_cast<double>(count) / kShapeTrials;
}

// Without an interval by the order statistics, which decide about directions.
bool excludes_one(const Comparison& found) {
  if (!found.ci_ratio) return found.p_sign < 0.05;
  return found.ci_ratio->low > 1 || found.ci_ratio->high < 1;
}

// The figures of docs/benchmarks.md, simulations in the tests.
TEST(Compare, EqualSidesAreRarelyToldApartWhateverTheShape) {
  struct Shape {
    const char* name;
    Difference difference;
  };
  for (const auto& [name, difference] :
       {Shape{"normal", difference_of_normals}, Shape{"uniform", difference_of_uniforms},
        Shape{"two speeds", difference_of_two_speeds}, Shape{"Laplace", difference_of_laplace},
        Shape{"t with 3 degrees", difference_of_t3}, Shape{"one size", difference_of_sizes<kOneSize>},
        Shape{"some are nothing", difference_of_sizes<kSomeAreNothing>},
        Shape{"worst of three sizes", difference_of_sizes<kWorstOfThree>}})
    for (const int pairs : {6, 7, 8}) {
      const double share = share_of(pairs, difference, 0, 0.1, excludes_one);
      std::printf("%s, %d pairs: %.1f %%\n", name, pairs, share * 100);
      EXPECT_LE(share, 0.05 + series::tolerance(0.05, kShapeTrials)) << name << " " << pairs;
    }
}

// One pair in eight is disturbed so much that its two sides look alike.
double difference_with_disturbed_pairs(const CounterRng& random, std::uint64_t i) {
  return random.uniform(100 + i) < 0.125 ? -2 : 0.3 * random.normal(i);
}
bool all_on_one_side(const Comparison& found) {
  return found.p_sign < 0.05;
}

TEST(Compare, TheCutSeesWhatOneDisturbedPairHidesFromTheExtremes) {
  const auto shares = [](const char* name, Difference difference) {
    const double ratio = std::log(1.3), spread = 0.14;
    const double cut = share_of(6, difference, ratio, spread, excludes_one),
                 extremes = share_of(6, difference, ratio, spread, all_on_one_side);
    std::printf("a ratio of 1.3, %s: %.0f %%, the extremes alone %.0f %%\n", name, cut * 100, extremes * 100);
    return std::pair(cut, extremes);
  };
  const auto [cut, extremes] = shares("one pair in eight disturbed", difference_with_disturbed_pairs);
  EXPECT_GT(cut, 0.7);
  EXPECT_LT(extremes, 0.5);
  const auto [normal, all] = shares("a spread of 14 %", difference_of_normals);
  EXPECT_GE(normal, all);
}

}  // namespace
}  // namespace paceline::stats
