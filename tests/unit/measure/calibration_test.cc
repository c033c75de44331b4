// SPDX-License-Identifier: MIT
#include "measure/calibration.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/clock.h"
#include "measure/timed_loop.h"
#include "stats/quantile.h"
#include "support/fake_clock.h"

namespace paceline::measure {
namespace {

using support::FakeClock;

TEST(Calibration, HarnessFractionIsReadCostOverWholeIteration) {
  for (const std::int64_t cost : {1, 22, 400}) {
    for (const std::int64_t body_ns : {1'000, 123'457, 54'100'000}) {
      const FakeClock clock(cost);
      const auto calibration =
          calibrate(clock, {.timer_reads = 100, .null_iterations = 100, .os_noise_ns = 10'000});
      std::vector<Sample> samples;
      prepare(samples, 50);
      auto body = [&] { clock.advance(body_ns); };
      run_block(clock, body, 1, 50, samples, BlockHooks{});
      const double expected = static_cast<double>(cost) / static_cast<double>(cost + body_ns);
      EXPECT_NEAR(overhead_fraction(calibration, median_duration_ns(samples)), expected, 1e-9);
    }
  }
}

TEST(Calibration, IsAFiftiethAsLongOnlyWhereTheEnvironmentSaysShort) {
  ::unsetenv("PACELINE_CALIBRATION");
  const auto usual = calibration_config();
  EXPECT_EQ(usual.timer_reads, 1'000'000);
  EXPECT_EQ(usual.null_iterations, 100'000);
  EXPECT_EQ(usual.os_noise_ns, 100'000'000);
  ::setenv("PACELINE_CALIBRATION", "long", 1);
  EXPECT_EQ(calibration_config().timer_reads, 1'000'000);
  ::setenv("PACELINE_CALIBRATION", "short", 1);
  EXPECT_EQ(calibration_config().timer_reads, 20'000);
  EXPECT_EQ(calibration_config().null_iterations, 2'000);
  EXPECT_EQ(calibration_config().os_noise_ns, 2'000'000);
  ::unsetenv("PACELINE_CALIBRATION");
}

TEST(Calibration, TimerCostReadsSmallestStepAndTail) {
  std::vector<std::int64_t> steps(10'000, 22);
  std::fill_n(steps.begin(), 200, 29);
  steps[5'000] = 0;
  const auto cost = timer_cost(steps);
  EXPECT_EQ(cost.resolution_ns, 22);
  EXPECT_EQ(cost.p50_ns, 22);
  EXPECT_EQ(cost.p99_ns, 29);
}

TEST(Calibration, TimerCostIsThatOfTheSortedSteps) {
  std::mt19937 random(7);
  for (std::size_t n = 1; n < 300; ++n) {
    std::vector<std::int64_t> steps(n);
    for (auto& step : steps) step = static_cast<std::int64_t>(random() % 9) * 10;
    const auto cost = timer_cost(steps);
    const auto sorted = stats::sorted_copy(std::vector<double>(steps.begin(), steps.end()));
    EXPECT_EQ(cost.p50_ns, stats::median_sorted(sorted));
    EXPECT_EQ(cost.p99_ns, stats::nearest_rank(sorted, stats::kPpmP99));
  }
}

TEST(Calibration, CoarseTimerHasItsStepAsResolution) {
  std::vector<std::int64_t> steps(1'000, 0);
  std::fill_n(steps.begin(), 10, 1'000);
  const auto cost = timer_cost(steps);
  EXPECT_EQ(cost.resolution_ns, 1'000);
  EXPECT_EQ(cost.p50_ns, 0);
  EXPECT_EQ(per_iteration_limit_ns(cost), 1e6);
}

TEST(Calibration, OsNoiseCountsOnlyLongGaps) {
  const FakeClock clock(100);
  clock.set_gap(100, 20'000);  // 100 reads: 10 us of reading and 20 us away
  const auto noise = calibrate_os_noise(clock, 3'000'000, 10'000);
  EXPECT_NEAR(noise.gap_frac, 20'100.0 / 30'000.0, 0.01);
  EXPECT_EQ(noise.largest_gap_ns, 20'100);
  const FakeClock quiet(100);
  EXPECT_EQ(calibrate_os_noise(quiet, 3'000'000, 10'000).gap_frac, 0);
}

TEST(Calibration, LimitIsTheLargerOfResolutionAndCost) {
  EXPECT_EQ(per_iteration_limit_ns({1, 22, 0}), 4'400);
  EXPECT_EQ(per_iteration_limit_ns({25, 22, 0}), 25'000);
}

TEST(Calibration, BatchIsAPowerOfTwoThatReachesTheLimit) {
  EXPECT_EQ(batch_size(4'400, 4'400), 1);
  EXPECT_EQ(batch_size(1e9, 4'400), 1);
  EXPECT_EQ(batch_size(4'399, 4'400), 2);
  EXPECT_EQ(batch_size(1'000, 4'400), 8);
  EXPECT_EQ(batch_size(1, 4'400), 4096);
  EXPECT_EQ(batch_size(0, 4'400), 4096);
  EXPECT_EQ(batch_size(100, 0), 1);
}

TEST(Calibration, ABlockLastsFiftyMillisecondsAndHoldsTwo) {
  EXPECT_EQ(pipeline_depth(50e6), 2);
  EXPECT_EQ(pipeline_depth(1e10), 2);
  EXPECT_EQ(pipeline_depth(10e6), 8);  // 5 and the next power of two
  EXPECT_EQ(pipeline_depth(12.5e6), 4);
  EXPECT_EQ(pipeline_depth(1), 4096);
  EXPECT_EQ(pipeline_depth(0), 4096);
}

TEST(Calibration, RunsOnTheRealClock) {
  const auto c =
      calibrate(SteadyClock{}, {.timer_reads = 10'000, .null_iterations = 1'000, .os_noise_ns = 1'000'000});
  EXPECT_GT(c.timer.resolution_ns, 0);
  EXPECT_LE(c.timer.p50_ns, c.timer.p99_ns);
  EXPECT_GT(c.harness_cost_ns, 0);
}

TEST(Clock, SteadyClockNeverStepsBack) {
  const SteadyClock clock;
  auto previous = clock.now_ns();
  std::int64_t backwards = 0;
  for (int i = 0; i < 10'000'000; ++i) {
    const auto now = clock.now_ns();
    backwards += now < previous;
    previous = now;
  }
  EXPECT_EQ(backwards, 0);
}

}  // namespace
}  // namespace paceline::measure
