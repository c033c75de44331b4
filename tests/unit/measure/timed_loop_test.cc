// SPDX-License-Identifier: MIT
#include "measure/timed_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "stats/spread.h"
#include "support/fake_clock.h"
#include "support/times.h"
#include "unit/measure/timer_cost.h"

namespace paceline::measure {
namespace {

using support::FakeClock;
using test::kMs;

constexpr std::int64_t kSecond = 1'000 * kMs;

LoopConfig without_warmup() {
  LoopConfig config;
  config.warmup.mode = stats::WarmupMode::kNone;
  return config;
}

// 10 ms with `noise` of Gaussian spread, drawn anew for every call.
struct NoisyBody {
  FakeClock clock;
  double noise = 0;
  std::int64_t base_ns = 10 * kMs;
  std::uint64_t seed = 1;
  std::uint64_t* calls = nullptr;
  void operator()() const {
    const double factor = 1 + noise * CounterRng(seed, 7).normal(*calls);
    ++*calls;
    clock.advance(static_cast<std::int64_t>(static_cast<double>(base_ns) * factor));
  }
};

struct Bench {
  FakeClock clock{22};
  std::uint64_t calls = 0;
  LoopResult run(const LoopConfig& config, double noise, std::int64_t base_ns = 10 * kMs,
                 const LoopHooks& hooks = {}) {
    AloneDecider decider(config.warmup, config.stop, config.iterations);
    return run_timed_loop(clock, NoisyBody{clock, noise, base_ns, 1, &calls}, config, kTimer, decider, hooks);
  }
};

// A device: starting an iteration takes the host 1 ms and the device 4; what is started follows each other.
struct Device {
  FakeClock clock;
  std::vector<std::int64_t> blocks{};
  void operator()(std::int64_t count) {
    blocks.push_back(count);
    clock.advance((1 + 4 * count) * kMs);
  }
};

// Others work for 300 ms after every fourth measured sample, as in turns.
TEST(TimedLoop, TheWorkOfOthersInAPauseIsNoTimeOfTheLoop) {
  auto config = without_warmup();
  config.warmup.mode = stats::WarmupMode::kFixed;
  config.warmup.fixed_iterations = 9;
  config.stop.n_min = 5;
  config.stop.t_min_ns = config.stop.t_max_ns = kSecond;
  Bench bench;
  int asked = 0;
  LoopHooks hooks;
  hooks.pause = [&]() -> std::int64_t {
    if (++asked % 4 != 0) return 0;
    bench.clock.advance(300 * kMs);
    return 300 * kMs;
  };
  const auto result = bench.run(config, 0, 10 * kMs, hooks);
  const auto alone = Bench().run(config, 0);
  const auto n = std::ssize(result.samples);
  EXPECT_EQ(asked, n - result.checks);  // neither while it warms up nor behind the last sample
  EXPECT_EQ(n, std::ssize(alone.samples));
  EXPECT_EQ(result.elapsed_ns, alone.elapsed_ns);
  EXPECT_EQ(result.others_ns, asked / 4 * 300 * kMs);
  EXPECT_EQ(alone.others_ns, 0);
  EXPECT_EQ(result.periods_ns().size(), alone.periods_ns().size());
  EXPECT_NEAR(stats::mean(result.periods_ns()), stats::mean(alone.periods_ns()), 100);
  EXPECT_EQ(std::ranges::count(result.pauses, 4), 1);
}

// One at a time an iteration takes 5 ms, in blocks 4 and a share of the first start.
TEST(TimedLoop, APipelinedBlockIsOneSample) {
  auto config = without_warmup();
  config.warmup.mode = stats::WarmupMode::kFixed;
  config.warmup.fixed_iterations = 3;
  config.pipelined = true;
  config.iterations = 10;
  const FakeClock clock;
  Device device{clock};
  AloneDecider decider(config.warmup, config.stop, config.iterations);
  std::size_t before_the_window = 0;
  LoopHooks hooks;
  hooks.measure_begins = [&] { before_the_window = device.blocks.size(); };
  const auto result = run_timed_loop(clock, device, config, kTimer, decider, hooks);
  EXPECT_EQ(before_the_window, 6U);  // what is not timed is not watched
  EXPECT_EQ(result.batch, 16);       // 50 ms hold 12 or 13 of them
  EXPECT_EQ(result.samples_ns(), std::vector<double>(10, 65e6 / 16));
  std::vector<std::int64_t> blocks(4, 1);  // the first call and the warm-up
  blocks.resize(4 + 2 + 10, 16);           // two blocks choose the size
  EXPECT_EQ(device.blocks, blocks);
}

TEST(TimedLoop, BlocksThatAreTooSlowForTheirLengthStillPipeline) {
  auto config = without_warmup();
  config.pipelined = true;
  config.iterations = 1;
  for (const auto& [batch, expected] : {std::pair{std::optional<std::int64_t>(), std::int64_t{2}}, {3, 3}}) {
    config.batch = batch;
    const FakeClock clock;
    auto slow = [&](std::int64_t count) { clock.advance(count * kSecond); };
    AloneDecider decider(config.warmup, config.stop, config.iterations);
    EXPECT_EQ(run_timed_loop(clock, slow, config, kTimer, decider).batch, expected);
  }
}

TEST(TimedLoop, FixedCountTakesExactlyThatMany) {
  auto config = without_warmup();
  config.warmup.mode = stats::WarmupMode::kFixed;
  config.warmup.fixed_iterations = 10;
  config.iterations = 100;
  config.stop.t_max_ns = 1;  // caps do not matter to a fixed count
  Bench bench;
  const auto result = bench.run(config, 0.2);
  EXPECT_EQ(result.samples.size(), 100U);
  EXPECT_EQ(result.warmup.iterations, 10);
  EXPECT_EQ(bench.calls, 111U);  // and the first call
  EXPECT_EQ(result.stop.reason, stats::kStopFixed);
  EXPECT_FALSE(result.stop.converged.has_value());
  EXPECT_TRUE(result.stop.unmet.empty());
  EXPECT_EQ(result.checks, 1);
}

TEST(TimedLoop, FixedWarmupMeetsBothCountAndTime) {
  auto config = without_warmup();
  config.warmup.mode = stats::WarmupMode::kFixed;
  config.warmup.fixed_iterations = 3;
  config.warmup.fixed_ns = 200 * kMs;
  config.iterations = 5;
  Bench by_time;
  EXPECT_EQ(by_time.run(config, 0).warmup.iterations, 20);
  config.warmup.fixed_iterations = 50;
  Bench by_count;
  const auto result = by_count.run(config, 0);
  EXPECT_EQ(result.warmup.iterations, 50);
  EXPECT_EQ(result.warmup.state, stats::WarmupState::kDone);
}

TEST(TimedLoop, FirstCallIsItsOwnMetric) {
  const FakeClock clock(0);
  auto config = without_warmup();
  config.iterations = 20;
  AloneDecider decider(config.warmup, config.stop, config.iterations);
  int calls = 0;
  const auto result = run_timed_loop(
      clock, [&] { clock.advance(calls++ == 0 ? 900 * kMs : 10 * kMs); }, config, kTimer, decider);
  EXPECT_EQ(result.warmup.first_iteration_ns, 900 * kMs);
  EXPECT_EQ(result.warmup.iterations, 0);
  for (const auto& sample : result.samples) EXPECT_EQ(sample.duration_ns, 10 * kMs);
}

TEST(TimedLoop, ConvergesWhenTheIntervalIsNarrow) {
  Bench bench;
  const auto result = bench.run(without_warmup(), 0.02);
  EXPECT_EQ(result.stop.reason, stats::kStopConverged);
  EXPECT_EQ(result.stop.converged, true);
  const auto p50 = stats::estimate_quantile(result.samples_ns(), stats::kPpmP50);
  EXPECT_LE(*stats::relative_halfwidth(p50), 0.01);
  EXPECT_GE(static_cast<std::int64_t>(result.samples.size()), 30);
  EXPECT_GE(result.elapsed_ns, kSecond);
}

TEST(TimedLoop, StopsAtTheSampleCapUnconverged) {
  auto config = without_warmup();
  config.stop.n_max = 200;
  Bench bench;
  const auto result = bench.run(config, 0.5);
  EXPECT_EQ(result.samples.size(), 200U);
  EXPECT_EQ(result.stop.reason, stats::kStopMaxSamples);
  EXPECT_EQ(result.stop.converged, false);
  ASSERT_FALSE(result.stop.unmet.empty());
  EXPECT_NE(result.stop.unmet[0].find("p50"), std::string::npos);
}

TEST(TimedLoop, StopsAtTheTimeCapEvenBelowTheLeastCount) {
  auto config = without_warmup();
  config.stop.t_max_ns = 60 * kSecond;
  Bench bench;
  const auto result = bench.run(config, 0, 7 * kSecond);  // 30 of them would take 210 s
  EXPECT_EQ(result.stop.reason, stats::kStopMaxTime);
  EXPECT_EQ(result.stop.converged, false);
  EXPECT_EQ(result.samples.size(), 9U);
  EXPECT_LE(result.elapsed_ns, 60 * kSecond + 7 * kSecond);
}

TEST(TimedLoop, WithoutWantedQuantilesTheMinimumIsAll) {
  auto config = without_warmup();
  config.stop.quantiles_ppm.clear();
  config.stop.n_min = 5;
  config.stop.t_min_ns = 2 * kSecond;
  Bench bench;
  const auto result = bench.run(config, 0.3, 300 * kMs);
  EXPECT_EQ(result.stop.reason, stats::kStopMinimum);
  EXPECT_FALSE(result.stop.converged.has_value());
  EXPECT_GE(result.elapsed_ns, 2 * kSecond - 300 * kMs);
  EXPECT_LE(result.samples.size(), 12U);
}

TEST(TimedLoop, FastBodiesAreBatched) {
  auto config = without_warmup();
  config.iterations = 40;
  Bench bench;
  const auto result = bench.run(config, 0, 1'000);  // limit 20 us
  EXPECT_EQ(result.batch, 32);                      // the first call is 1022 ns with its read
  EXPECT_EQ(result.samples.size(), 40U);
  EXPECT_EQ(bench.calls, 1U + 40U * 32U);
  EXPECT_TRUE(result.long_enough_to_time);
  EXPECT_NEAR(result.samples_ns()[7], 1'000 + 22.0 / 32, 1e-9);
}

TEST(TimedLoop, BatchCanBeForcedAndIsThenJudged) {
  auto config = without_warmup();
  config.iterations = 40;
  config.batch = 1;
  Bench bench;
  const auto result = bench.run(config, 0, 1'000);
  EXPECT_EQ(result.batch, 1);
  EXPECT_FALSE(result.long_enough_to_time);
}

TEST(TimedLoop, NothingButTheBodyIsBetweenTwoTimestamps) {
  auto config = without_warmup();
  config.iterations = 50;
  config.progress_interval_ns = 30 * kMs;
  Bench bench;
  LoopHooks hooks;
  std::vector<std::int64_t> indices;
  hooks.before_sample = [&](std::int64_t i) {
    indices.push_back(i);
    bench.clock.advance(3 * kMs);
  };
  int reports = 0;
  hooks.progress = [&](const Progress& progress) {
    ++reports;
    EXPECT_EQ(progress.phase, Phase::kMeasure);
    bench.clock.advance(40 * kMs);
  };
  const auto result = bench.run(config, 0, 10 * kMs, hooks);
  for (const auto& sample : result.samples) EXPECT_EQ(sample.duration_ns, 10 * kMs + 22);
  ASSERT_EQ(indices.size(), 50U);
  EXPECT_EQ(indices.front(), 0);
  EXPECT_EQ(indices.back(), 49);
  EXPECT_GT(reports, 10);
}

TEST(TimedLoop, ProgressHasAMedianBeforeTheFirstCheckpoint) {
  auto config = without_warmup();
  config.iterations = 20;
  config.progress_interval_ns = 30 * kMs;
  Bench bench;
  LoopHooks hooks;
  int before = 0;
  hooks.progress = [&](const Progress& progress) {
    if (progress.decision) return;
    ++before;
    ASSERT_TRUE(progress.median_ns);
    EXPECT_NEAR(*progress.median_ns, 10 * kMs, 100);
  };
  bench.run(config, 0, 10 * kMs, hooks);
  EXPECT_GT(before, 3);
}

TEST(TimedLoop, SamplesAreMonotoneAndDoNotOverlap) {
  Bench bench;
  const auto result = bench.run(without_warmup(), 0.05);
  for (std::size_t i = 1; i < result.samples.size(); ++i)
    ASSERT_GE(result.samples[i].start_ns, result.samples[i - 1].start_ns + result.samples[i - 1].duration_ns);
}

TEST(TimedLoop, PeriodsLeaveOutPausesAndNothingElse) {
  LoopResult result;
  result.samples = {{0, 10}, {15, 10}, {100, 20}, {125, 5}};
  result.pauses = {2};
  EXPECT_EQ(result.periods_ns(), (std::vector<double>{15, 10, 25, 5}));
  result.pauses.clear();
  const auto all = result.periods_ns();
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0.0), 130);
  result.batch = 5;
  EXPECT_EQ(result.periods_ns()[0], 3);
}

TEST(TimedLoop, CheckpointsArePauses) {
  auto config = without_warmup();
  config.stop.n_max = 60;
  Bench bench;
  const auto result = bench.run(config, 0.5);
  EXPECT_EQ(result.pauses, (std::vector<std::int64_t>{30, 38, 48, 60}));
  EXPECT_EQ(result.checks, 4);
}

TEST(TimedLoop, AnInterruptKeepsWhatWasMeasured) {
  std::atomic<bool> interrupt{false};
  LoopHooks hooks;
  hooks.interrupt = &interrupt;
  hooks.before_sample = [&](std::int64_t i) {
    if (i == 12) interrupt = true;
  };
  bool ended = false;
  hooks.measure_ends = [&] { ended = true; };
  Bench bench;
  const auto result = bench.run(without_warmup(), 0.5, 10 * kMs, hooks);
  EXPECT_EQ(result.samples.size(), 13U);
  EXPECT_EQ(result.stop.reason, stats::kStopInterrupted);
  EXPECT_EQ(result.stop.converged, false);
  EXPECT_TRUE(ended);
}

TEST(TimedLoop, AnInterruptDuringWarmupMeasuresNothing) {
  std::atomic<bool> interrupt{false};
  LoopHooks hooks;
  hooks.interrupt = &interrupt;
  hooks.before_sample = [&](std::int64_t i) {
    if (i == 3) interrupt = true;
  };
  Bench bench;
  const auto result = bench.run(LoopConfig{}, 0.5, 10 * kMs, hooks);
  EXPECT_TRUE(result.samples.empty());
  EXPECT_EQ(result.warmup.state, stats::WarmupState::kWarming);
  EXPECT_EQ(result.stop.reason, stats::kStopInterrupted);
}

// Rank 0 decides and the others repeat its answers, whatever their own times are.
class RankZero : public AloneDecider {
 public:
  using AloneDecider::AloneDecider;
  std::vector<stats::WarmupDecision> warmups;
  std::vector<stats::StopDecision> stops;
  stats::WarmupDecision warmup(std::span<const double> d, std::int64_t e) override {
    return warmups.emplace_back(AloneDecider::warmup(d, e));
  }
  stats::StopDecision stop(std::span<const double> x, std::int64_t e) override {
    return stops.emplace_back(AloneDecider::stop(x, e));
  }
};

class Follower : public StopDecider {
 public:
  explicit Follower(const RankZero& leader) : leader_(leader) {}
  [[nodiscard]] std::int64_t first_warmup_check() const override { return leader_.first_warmup_check(); }
  stats::WarmupDecision warmup(std::span<const double>, std::int64_t) override {
    return leader_.warmups[warmup_++];
  }
  [[nodiscard]] std::int64_t first_stop_check(double) const override { return leader_.first_stop_check(0); }
  stats::StopDecision stop(std::span<const double>, std::int64_t) override { return leader_.stops[stop_++]; }

 private:
  const RankZero& leader_;
  std::size_t warmup_ = 0;
  std::size_t stop_ = 0;
};

TEST(TimedLoop, EightRanksStayInStep) {
  LoopConfig config;
  config.batch = 1;
  RankZero leader(config.warmup, config.stop);
  const FakeClock clock(22);
  std::uint64_t calls = 0;
  const auto zero =
      run_timed_loop(clock, NoisyBody{clock, 0.05, 10 * kMs, 1, &calls}, config, kTimer, leader);
  ASSERT_EQ(zero.stop.converged, true);
  for (std::uint64_t rank = 1; rank < 8; ++rank) {
    Follower follower(leader);
    const FakeClock own(30);
    std::uint64_t own_calls = 0;
    const NoisyBody body{own, 0.3, static_cast<std::int64_t>(rank) * 7 * kMs, rank + 1, &own_calls};
    const auto result = run_timed_loop(own, body, config, kTimer, follower);
    EXPECT_EQ(result.samples.size(), zero.samples.size());
    EXPECT_EQ(result.warmup.iterations, zero.warmup.iterations);
  }
}

}  // namespace
}  // namespace paceline::measure
