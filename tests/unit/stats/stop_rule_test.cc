// SPDX-License-Identifier: MIT
#include "stats/stop_rule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "series.h"

namespace paceline::stats {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Feeds ever longer starts of a series to the rule until it stops; every sample takes 50 ms.
StopDecision run(const std::vector<double>& x, const StopConfig& config, std::size_t& n) {
  n = static_cast<std::size_t>(config.n_min);
  for (;;) {
    const auto elapsed_ns = static_cast<std::int64_t>(n) * kSecond / 20;
    auto decision = decide(std::span(x).first(n), elapsed_ns, config);
    if (decision.stop) return decision;
    n = static_cast<std::size_t>(decision.next_n);
  }
}

TEST(StopRule, CoverageOfTheFinalInterval) {
  StopConfig config;
  config.n_max = 2000;
  config.t_max_ns = 1'000 * kSecond;
  constexpr int kTrials = 3000;
  int converged = 0;
  const double seen = series::rate(kTrials, [&](std::uint64_t seed) {
    const auto x = series::normal(2000, seed, 100, 3);
    std::size_t n = 0;
    const auto decision = run(x, config, n);
    converged += decision.converged == true;
    return *decision.first.ci_low <= 100 && 100 <= *decision.first.ci_high;
  });
  EXPECT_EQ(converged, kTrials);
  EXPECT_GE(seen, 0.935);
}

TEST(StopRule, HeavyTailsEndAtTheCapUnconverged) {
  StopConfig config;
  config.n_max = 3000;
  config.t_max_ns = 1'000 * kSecond;
  config.quantiles_ppm = {kPpmP99};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const CounterRng random(seed, 8);
    const auto x = series::make(3000, [&](std::uint64_t i) {
      return 1 + std::abs(std::tan(3.141592653589793 * (random.uniform(i) - .5)));
    });
    std::size_t n = 0;
    const auto decision = run(x, config, n);
    EXPECT_EQ(n, 3000U);
    EXPECT_EQ(decision.reason, kStopMaxSamples);
    EXPECT_EQ(decision.converged, false);
    EXPECT_FALSE(decision.unmet.empty());
  }
}

TEST(StopRule, NothingStopsBelowTheMinima) {
  StopConfig config;
  const std::vector<double> constant(200, 5e7);
  const auto few = decide(std::span(constant).first(29), 5 * kSecond, config);
  EXPECT_FALSE(few.stop);
  ASSERT_EQ(few.unmet.size(), 2U);  // the count, and as many autocorrelation times
  const auto brief = decide(constant, kSecond / 2, config);
  EXPECT_FALSE(brief.stop);
  ASSERT_EQ(brief.unmet.size(), 1U);
  EXPECT_EQ(brief.unmet[0], "0.50 of at least 1.00 s");
  const auto both = decide(constant, 5 * kSecond, config);
  EXPECT_TRUE(both.stop);
  EXPECT_EQ(both.converged, true);
  EXPECT_EQ(both.reason, kStopConverged);
}

TEST(StopRule, DependentSamplesMustLastLonger) {
  StopConfig config;
  config.precisions = {{kPpmP50, 0.5, 50}};
  auto x = series::ar1(500, 4, .9);  // about 19 autocorrelation times in a thousand
  for (double& v : x) v = 100 + v;
  const auto decision = decide(x, 5 * kSecond, config);
  EXPECT_FALSE(decision.stop);
  ASSERT_EQ(decision.unmet.size(), 1U);
  EXPECT_NE(decision.unmet[0].find("autocorrelation"), std::string::npos);
}

TEST(StopRule, UnwantedQuantilesNeverKeepARunGoing) {
  StopConfig config;
  const std::vector<double> x = series::normal(100, 4, 100, 0.1);
  EXPECT_TRUE(decide(x, 5 * kSecond, config).stop);
  config.quantiles_ppm = {kPpmP50, kPpmP99};
  const auto decision = decide(x, 5 * kSecond, config);
  EXPECT_FALSE(decision.stop);
  EXPECT_NE(decision.unmet[0].find("p99"), std::string::npos);
}

TEST(StopRule, TimeCapStops) {
  StopConfig config;
  const auto decision = decide(series::normal(100, 4, 100, 50), 61 * kSecond, config);
  EXPECT_TRUE(decision.stop);
  EXPECT_EQ(decision.reason, kStopMaxTime);
  EXPECT_EQ(decision.converged, false);
}

TEST(StopRule, CheckpointsGrowByAQuarterAndRespectTheCaps) {
  StopConfig config;
  EXPECT_EQ(next_checkpoint(0, 0, config), 30);
  EXPECT_EQ(next_checkpoint(30, kSecond, config), 38);
  EXPECT_EQ(next_checkpoint(38, kSecond, config), 48);
  EXPECT_EQ(next_checkpoint(90'000, kSecond, config), 100'000);
  EXPECT_EQ(next_checkpoint(100, 58 * kSecond, config), 104);  // 2 s left at 0.58 s each
  config.check_growth = 1;
  EXPECT_EQ(next_checkpoint(50, kSecond, config), 51);
}

TEST(StopRule, PrecisionComesFromTheNearestRowBelow) {
  const StopConfig config;
  EXPECT_EQ(precision_of(config, kPpmP50).rel_halfwidth, 0.01);
  EXPECT_EQ(precision_of(config, kPpmP90).rel_halfwidth, 0.02);
  EXPECT_EQ(precision_of(config, kPpmP95).rel_halfwidth, 0.02);
  EXPECT_EQ(precision_of(config, kPpmP99).rel_halfwidth, 0.05);
  EXPECT_EQ(precision_of(config, kPpmP999).rel_halfwidth, 0.05);
  EXPECT_EQ(precision_of(config, 100'000).rel_halfwidth, 0.01);
  EXPECT_EQ(precision_of(config, kPpmP95).tau_guard, 100);
}

}  // namespace
}  // namespace paceline::stats
