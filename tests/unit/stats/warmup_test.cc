// SPDX-License-Identifier: MIT
#include "stats/warmup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "series.h"
#include "stats/mser.h"
#include "stats/noise.h"
#include "stats/quantile.h"

namespace paceline::stats {
namespace {

constexpr double kBaseNs = 8e6;  // 0.25 s hold 31 iterations: windows of 30
constexpr int kWarmupTrials = 40;

using Shape = std::function<double(double)>;

// 8 ms, half-normal noise, and 1 % of the samples half as long again.
std::vector<double> make_series(const Shape& shape, double noise, std::uint64_t seed, std::size_t n = 1000) {
  const CounterRng random(seed, 21);
  const CounterRng spikes(seed, 22);
  return series::make(n, [&](std::uint64_t i) {
    const double spike = spikes.uniform(i) < 0.01 ? 1.5 : 1;
    return kBaseNs * shape(static_cast<double>(i)) * (1 + noise * std::abs(random.normal(i))) * spike;
  });
}

struct Outcome {
  WarmupState state;
  std::int64_t n;
  std::int64_t window;
};

Outcome warm_up(const std::vector<double>& x, const WarmupConfig& config = {}) {
  WarmupDetector detector(config);
  double elapsed_ns = 0;
  std::size_t n = 0;
  WarmupDecision decision{WarmupState::kWarming, detector.first_check()};
  while (decision.state == WarmupState::kWarming) {
    const auto next = static_cast<std::size_t>(decision.next_n);
    const auto fresh = std::span(x).subspan(n, next - n);
    for (double v : fresh) elapsed_ns += v;
    n = next;
    decision = detector.add(fresh, static_cast<std::int64_t>(elapsed_ns));
  }
  return {decision.state, static_cast<std::int64_t>(n), detector.window()};
}

// Mean over trials of (median of the 200 samples after the cut) / (steady median) - 1.
double mean_bias(const Shape& shape, double noise) {
  const double steady = kBaseNs * (1 + noise * 0.6744897501960817) * shape(1e9);
  double sum = 0;
  for (int seed = 1; seed <= kWarmupTrials; ++seed) {
    const auto x = make_series(shape, noise, static_cast<std::uint64_t>(seed));
    const auto cut = static_cast<std::size_t>(warm_up(x).n);
    sum += median(std::span(x).subspan(cut, 200)) / steady - 1;
  }
  return sum / kWarmupTrials;
}

const Shape kFlat = [](double) { return 1.0; };
const Shape kLazyInit = [](double i) { return i < 5 ? 10.0 : 1.0; };
const Shape kAutotune = [](double i) { return i < 60 ? 1.25 : 1.0; };
const Shape kThermalStep = [](double i) { return i < 150 ? 1.0 : 1.08; };
const Shape kDriftUp = [](double i) { return 1 + 0.05 * i / 1000; };
Shape decay(double tau, double amplitude) {
  return [=](double i) { return 1 + amplitude * std::exp(-i / tau); };
}

TEST(Warmup, SlowStartsLeaveNoBias) {
  for (const double noise : {.01, .05}) {
    EXPECT_NEAR(mean_bias(kLazyInit, noise), 0, .003) << noise;
    EXPECT_NEAR(mean_bias(kAutotune, noise), 0, .003) << noise;
    EXPECT_NEAR(mean_bias(decay(10, .5), noise), 0, .003) << noise;
    EXPECT_NEAR(mean_bias(decay(50, .5), noise), 0, .003) << noise;
    EXPECT_NEAR(mean_bias(decay(50, .1), noise), 0, .003) << noise;
  }
}

TEST(Warmup, FlatSeriesCostFourWindowsInTheMiddle) {
  std::vector<double> costs;
  for (int seed = 1; seed <= kWarmupTrials; ++seed) {
    const auto outcome = warm_up(make_series(kFlat, .01, static_cast<std::uint64_t>(seed)));
    EXPECT_EQ(outcome.window, 30);
    costs.push_back(static_cast<double>(outcome.n));
  }
  EXPECT_LE(median(costs), 4 * 30 + 5);
}

TEST(Warmup, KnownCutsOfKnownShapes) {
  const auto autotune = warm_up(make_series(kAutotune, .01, 1));  // 10 ms at first: windows of 25 or so
  EXPECT_EQ(autotune.n, 6 * autotune.window);
  const auto decaying = warm_up(make_series(decay(50, .5), .01, 1)).n;
  EXPECT_GE(decaying, 210);
  EXPECT_LE(decaying, 330);
}

TEST(Warmup, NeverSteadyIsNotReached) {
  const Shape see_saw = [](double i) { return std::fmod(i, 60) < 30 ? 1.0 : 1.4; };
  const auto outcome = warm_up(make_series(see_saw, .01, 1));
  EXPECT_EQ(outcome.state, WarmupState::kNotReached);
  EXPECT_EQ(outcome.n, 500);
}

TEST(Warmup, TimeCapEndsSlowBodies) {
  const std::vector<double> slow(100, 7e9);
  const auto outcome = warm_up(slow);
  EXPECT_EQ(outcome.state, WarmupState::kNotReached);
  EXPECT_EQ(outcome.window, 5);
  EXPECT_EQ(outcome.n, 10);  // 70 s at the second window
}

TEST(Warmup, FastBodiesWarmUpForTheFloorTime) {
  const auto x = series::normal(20'000, 1, 1e5, 1e3);  // 0.1 ms: 500 iterations are only 50 ms
  const auto outcome = warm_up(x);
  EXPECT_EQ(outcome.state, WarmupState::kDone);
  EXPECT_GE(outcome.n, 4'990);
  EXPECT_LE(outcome.n, 5'300);
}

TEST(Warmup, FastBodiesAreSteadyWhateverTheirLastWindowSays) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto x = series::normal(20'000, seed, 1e5, 5e3);
    ASSERT_EQ(warm_up(x).state, WarmupState::kDone) << seed;
  }
}

TEST(Warmup, ALowerCapIsKept) {
  WarmupConfig config;
  config.cap_iterations = 100;
  const Shape see_saw = [](double i) { return std::fmod(i, 60) < 30 ? 1.0 : 1.4; };
  const auto outcome = warm_up(make_series(see_saw, .01, 1), config);
  EXPECT_EQ(outcome.state, WarmupState::kNotReached);
  EXPECT_EQ(outcome.n, 100);
}

TEST(Warmup, FixedAndNone) {
  const std::vector<double> x(1000, 1e7);
  WarmupConfig config;
  config.mode = WarmupMode::kFixed;
  config.fixed_iterations = 10;
  EXPECT_EQ(warm_up(x, config).n, 10);
  config.fixed_ns = 300'000'000;
  EXPECT_EQ(warm_up(x, config).n, 30);
  config.fixed_iterations = 0;
  EXPECT_EQ(warm_up(x, config).n, 30);
  config.mode = WarmupMode::kNone;
  EXPECT_EQ(warm_up(x, config).n, 0);
}

TEST(Warmup, AnswersDoNotDependOnHowSamplesArrive) {
  const auto x = make_series(decay(50, .5), .01, 3);
  WarmupDetector detector{WarmupConfig{}};
  double elapsed_ns = 0;
  std::int64_t n = 0;
  WarmupState state = WarmupState::kWarming;
  for (; state == WarmupState::kWarming; ++n) {
    elapsed_ns += x[static_cast<std::size_t>(n)];
    state =
        detector
            .add(std::span(x).subspan(static_cast<std::size_t>(n), 1), static_cast<std::int64_t>(elapsed_ns))
            .state;
  }
  EXPECT_EQ(detector.window(), warm_up(x).window);
  EXPECT_EQ(n, warm_up(x).n);
}

TEST(Mser, FindsTheThermalStep) {
  for (const double noise : {.01, .05}) {
    std::vector<double> cuts;
    for (int seed = 1; seed <= kWarmupTrials; ++seed) {
      const auto cut = mser5(make_series(kThermalStep, noise, static_cast<std::uint64_t>(seed)));
      cuts.push_back(static_cast<double>(cut->cut));
      EXPECT_TRUE(cut->residual_warmup);
      EXPECT_LT(cut->median_before, cut->median_after);
    }
    EXPECT_NEAR(median(cuts), 150, 10) << noise;
  }
}

TEST(Mser, FlatSeriesKeepTheirMedian) {
  int flagged = 0;
  for (int seed = 1; seed <= kWarmupTrials; ++seed)
    flagged += mser5(make_series(kFlat, .01, static_cast<std::uint64_t>(seed)))->residual_warmup;
  EXPECT_LE(flagged, kWarmupTrials / 4);
  const auto constant = mser5(std::vector<double>(100, 3.0));
  EXPECT_EQ(constant->cut, 0);
  EXPECT_FALSE(constant->residual_warmup);
  EXPECT_FALSE(mser5(std::vector<double>(49, 3.0)));
}

TEST(Mser, NeverCutsMoreThanHalf) {
  const auto cut = mser5(series::make(100, [](std::uint64_t i) { return i < 95 ? 2.0 : 1.0; }));
  EXPECT_LE(cut->cut, 50);
}

TEST(Warmup, SlowDriftFoolsWindowsAndIsFlaggedAfterwards) {
  const auto x = make_series(kDriftUp, .01, 2);
  EXPECT_EQ(warm_up(x).state, WarmupState::kDone);
  EXPECT_TRUE(drift(x)->flagged);
}

}  // namespace
}  // namespace paceline::stats
