// SPDX-License-Identifier: MIT
#include "stats/spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "series.h"
#include "stats/autocorrelation.h"
#include "stats/batch_means.h"
#include "stats/student_t.h"

namespace paceline::stats {
namespace {

TEST(Spread, TextbookValues) {
  const std::vector<double> x{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_EQ(mean(x), 5);
  EXPECT_NEAR(*stddev(x), std::sqrt(32.0 / 7), 1e-12);
  EXPECT_EQ(mad(x), 0.5);
  EXPECT_EQ(minimum(x), 2);
  EXPECT_EQ(maximum(x), 9);
}

TEST(Spread, SmallSamples) {
  EXPECT_FALSE(stddev(std::vector<double>{3}));
  EXPECT_EQ(mad(std::vector<double>{3}), 0);
  EXPECT_THROW((void)mean({}), Error);
  EXPECT_THROW((void)minimum({}), Error);
}

TEST(Spread, DoubleMadTellsTheSidesApart) {
  const auto d = double_mad(std::vector<double>{9, 10, 10, 11, 20, 30, 40});
  EXPECT_EQ(d.median, 11);
  EXPECT_EQ(d.low, 1);
  EXPECT_EQ(d.high, 14);
}

TEST(Spread, MeanKeepsItsDigits) {
  const std::vector<double> x(100'000, 0.1);
  EXPECT_DOUBLE_EQ(mean(x), 0.1);
}

TEST(Autocorrelation, TauOfAnAutoregressiveSeries) {
  for (const double phi : {0., .3, .6, .9}) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) sum += tau_geyer(series::ar1(20'000, seed, phi));
    const double truth = (1 + phi) / (1 - phi);
    EXPECT_NEAR(sum / 20 / truth, 1, 0.06) << phi;
  }
}

// Geyer's sequence by its definition, with or without the running minimum.
double tau_by_definition(const std::vector<double>& x, bool monotone) {
  const double m = mean(x);
  const auto rho = [&](std::size_t lag) {
    double product = 0;
    double square = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      square += (x[i] - m) * (x[i] - m);
      if (i >= lag) product += (x[i] - m) * (x[i - lag] - m);
    }
    return product / square;
  };
  double tau = -1;
  double smallest = 2;
  for (std::size_t k = 0; 2 * k + 1 < x.size(); ++k) {
    const double pair = rho(2 * k) + rho(2 * k + 1);
    if (pair <= 0) break;
    smallest = std::min(smallest, pair);
    tau += 2 * (monotone ? smallest : pair);
  }
  return std::max(tau, 1.0);
}

TEST(Autocorrelation, TauFollowsTheDefinition) {
  int minimum_mattered = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto x = series::ar1(150, seed, .8);
    ASSERT_NEAR(tau_geyer(x), tau_by_definition(x, true), 1e-9);
    minimum_mattered += tau_by_definition(x, true) < tau_by_definition(x, false) - 1e-6;
  }
  EXPECT_GT(minimum_mattered, 0);
}

TEST(Autocorrelation, LongSeriesAreCompressedToTheSameAnswer) {
  const auto x = series::ar1(90'000, 3, .9);
  EXPECT_NEAR(tau_geyer(x), 19, 2);
  EXPECT_NEAR(tau_geyer(series::normal(90'000, 3)), 1, 0.1);
}

TEST(Autocorrelation, DegenerateSeries) {
  EXPECT_EQ(tau_geyer(std::vector<double>(500, 7.0)), 1);
  EXPECT_EQ(tau_geyer(std::vector<double>{1, 2}), 1);
  EXPECT_EQ(lag1_autocorrelation(std::vector<double>(500, 7.0)), 0);
  EXPECT_EQ(tau_geyer(series::make(100, [](std::uint64_t i) { return i % 2 == 0 ? 1.0 : -1.0; })), 1);
}

TEST(Autocorrelation, Lag1) {
  EXPECT_NEAR(lag1_autocorrelation(series::ar1(20'000, 2, .6)), .6, .03);
  EXPECT_NEAR(lag1_autocorrelation(std::vector<double>{1, -1, 1, -1}), -0.75, 1e-12);
}

TEST(BatchMeans, StudentT) {
  EXPECT_NEAR(student_t(19, .95), 2.093024, 1e-5);
  EXPECT_NEAR(student_t(9, .95), 2.262157, 1e-5);
  EXPECT_NEAR(student_t(1, .95), 12.7062, 1e-3);
  EXPECT_NEAR(student_t_above(19, 2.093024), 0.025, 1e-6);
  EXPECT_NEAR(student_t_above(9, -2.262157), 0.975, 1e-6);
}

TEST(BatchMeans, HalvesTheBatchesOfADependentSeries) {
  EXPECT_EQ(mean_interval(series::normal(1000, 1)).batches, 20);
  EXPECT_EQ(mean_interval(series::ar1(1000, 1, .99)).batches, 10);
}

TEST(BatchMeans, IntervalOfKnownBatches) {
  const auto x = series::make(20, [](std::uint64_t i) { return i % 2 == 0 ? 9.0 : 11.0; });
  const auto e = mean_interval(x);
  EXPECT_EQ(e.value, 10);
  EXPECT_NEAR(e.ci->high - 10, 2.093024 * std::sqrt(20.0 / 19) / std::sqrt(20.0), 1e-5);
}

TEST(BatchMeans, TooFewSamplesGiveNoInterval) {
  const auto e = mean_interval(series::normal(19, 1));
  EXPECT_FALSE(e.ci);
  EXPECT_EQ(e.reason, kInsufficientSamples);
}

TEST(Throughput, IsItemsOverTotalTimeNotAMeanOfRates) {
  std::vector<double> periods(20, 1e8);
  periods.insert(periods.end(), 20, 3e8);
  const auto rate = throughput_interval(periods, 8);
  EXPECT_NEAR(rate.per_s, 40 * 8 / 8.0, 1e-9);
  EXPECT_GT(std::abs(rate.per_s - 8 * (10 + 10.0 / 3) / 2), 10);
}

TEST(Throughput, IntervalIsTheInvertedOneOfTheMean) {
  const auto periods = series::normal(400, 5, 1e7, 1e5);
  const auto period = mean_interval(periods);
  const auto rate = throughput_interval(periods, 2);
  EXPECT_DOUBLE_EQ(rate.ci->low, 2e9 / period.ci->high);
  EXPECT_DOUBLE_EQ(rate.ci->high, 2e9 / period.ci->low);
  EXPECT_LT(rate.ci->low, rate.per_s);
  EXPECT_GT(rate.ci->high, rate.per_s);
}

}  // namespace
}  // namespace paceline::stats
