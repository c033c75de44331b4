// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "measure/timed_loop.h"
#include "support/fake_clock.h"
#include "unit/measure/timer_cost.h"

namespace paceline::measure {
namespace {

constexpr double kBaseNs = 8e6;

// 8 ms times `shape(i)`, with 1 % half-normal noise. Call 0 is the first call.
template <class Shape>
LoopResult run(Shape shape, const LoopConfig& config = {}) {
  const support::FakeClock clock(22);
  std::uint64_t i = 0;
  const CounterRng random(5, 11);
  const auto body = [&] {
    const double noise = 1 + 0.01 * std::abs(random.normal(i));
    clock.advance(static_cast<std::int64_t>(kBaseNs * noise * shape(static_cast<double>(i))));
    ++i;
  };
  AloneDecider decider(config.warmup, config.stop, config.iterations);
  return run_timed_loop(clock, body, config, kTimer, decider);
}

TEST(WarmupInTheLoop, FlatSeriesEndsAfterFourWindows) {
  const auto result = run([](double) { return 1.0; });
  EXPECT_EQ(result.warmup.state, stats::WarmupState::kDone);
  EXPECT_EQ(result.warmup.iterations, 120);
  EXPECT_GT(result.warmup.duration_ns, 120 * 8'000'000);
}

TEST(WarmupInTheLoop, NoSlowStartIsMeasured) {
  const auto result = run([](double i) { return 1 + 0.5 * std::exp(-i / 50); });
  EXPECT_EQ(result.warmup.state, stats::WarmupState::kDone);
  EXPECT_GE(result.warmup.iterations, 180);
  EXPECT_NEAR(stats::median(result.samples_ns()) / kBaseNs, 1.0067, 0.005);
}

TEST(WarmupInTheLoop, NeverSteadyIsSaidAndMeasured) {
  const auto result = run([](double i) { return std::fmod(i, 60) < 30 ? 1.0 : 1.5; });
  EXPECT_EQ(result.warmup.state, stats::WarmupState::kNotReached);
  EXPECT_EQ(result.warmup.iterations, 500);
  EXPECT_GE(result.samples.size(), 30U);
}

TEST(WarmupInTheLoop, LeftOverWarmupExtendsOnceToTwice) {
  LoopConfig config;
  config.warmup.mode = stats::WarmupMode::kNone;
  config.stop.n_min = 200;
  config.stop.precisions = {{stats::kPpmP50, 0.5, 0}};  // any interval will do
  const auto result = run([](double i) { return i < 60 ? 1.3 : 1.0; }, config);
  EXPECT_TRUE(result.stop.extended);
  EXPECT_EQ(result.samples.size(), 400U);
  EXPECT_EQ(result.stop.reason, stats::kStopConverged);
  ASSERT_TRUE(result.mser.has_value());
  EXPECT_TRUE(result.mser->residual_warmup);
  EXPECT_NEAR(static_cast<double>(result.mser->cut), 60, 10);
  EXPECT_NEAR(result.mser->median_before / result.mser->median_after, 1.3, 0.01);
}

TEST(WarmupInTheLoop, SteadySeriesIsNotExtended) {
  LoopConfig config;
  config.warmup.mode = stats::WarmupMode::kNone;
  config.stop.n_min = 200;
  const auto result = run([](double) { return 1.0; }, config);
  EXPECT_FALSE(result.stop.extended);
  EXPECT_EQ(result.samples.size(), 200U);
}

}  // namespace
}  // namespace paceline::measure
