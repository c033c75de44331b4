// SPDX-License-Identifier: MIT
#include "measure/closed_loop.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <stdexcept>

#include "base/clock.h"
#include "base/error.h"

namespace paceline::measure {
namespace {

// Keeps a lane busy for a while without leaving its core.
struct Busy {
  std::array<std::atomic<std::int64_t>, 4> calls{};
  std::int64_t duration_ns = 200'000;
  void operator()(int lane) {
    const SteadyClock clock;
    const auto until = clock.now_ns() + duration_ns;
    while (clock.now_ns() < until) {
    }
    ++calls[static_cast<std::size_t>(lane)];
  }
};

stats::WarmupConfig five() {
  stats::WarmupConfig config;
  config.mode = stats::WarmupMode::kFixed;
  config.fixed_iterations = 5;
  return config;
}

TEST(LaneCrew, RunsATaskOnceOnEveryLane) {
  LaneCrew crew(3);
  std::mutex mutex;
  std::multiset<int> lanes;
  std::array<std::thread::id, 3> first{}, second{};
  crew.run([&](int lane) {
    const std::lock_guard lock(mutex);
    lanes.insert(lane);
    first[static_cast<std::size_t>(lane)] = std::this_thread::get_id();
  });
  crew.run([&](int lane) { second[static_cast<std::size_t>(lane)] = std::this_thread::get_id(); });
  EXPECT_EQ(lanes, (std::multiset<int>{0, 1, 2}));
  EXPECT_EQ(first, second);
}

TEST(LaneCrew, HandsOnWhatALaneThrows) {
  LaneCrew crew(2);
  EXPECT_THROW(crew.run([&](int lane) {
    if (lane == 1) throw std::runtime_error("no");
    while (!crew.failed()) std::this_thread::yield();
  }),
               std::runtime_error);
  EXPECT_NO_THROW(crew.run([](int) {}));
}

TEST(LaneCrew, HandsOnWhatTheWatchThrows) {
  LaneCrew crew(2);
  EXPECT_THROW(crew.run(
                   [&](int) {
                     while (!crew.failed()) std::this_thread::yield();
                   },
                   [] { throw std::runtime_error("gone"); }, std::chrono::milliseconds(1)),
               std::runtime_error);
}

TEST(ClosedLoop, CountsExactlyWhatWasAskedFor) {
  LaneCrew crew(2);
  Busy body;
  const SteadyClock clock;
  ClosedLoop loop(clock, body, crew);
  AloneDecider decider(five(), {});
  const auto warmup = loop.warm_up(decider);
  EXPECT_EQ(warmup.state, stats::WarmupState::kDone);
  EXPECT_GE(warmup.iterations, 5);
  EXPECT_GE(warmup.first_iteration_ns, body.duration_ns);
  const auto before = body.calls[0] + body.calls[1];
  const auto result = loop.measure_count(101);
  EXPECT_EQ(result.samples.size(), 101U);
  EXPECT_EQ(body.calls[0] + body.calls[1] - before, 101);
  EXPECT_EQ(result.stop.reason, stats::kStopFixed);
}

TEST(ClosedLoop, KeepsEveryLaneBusy) {
  LaneCrew crew(2);
  Busy body;
  const SteadyClock clock;
  ClosedLoop loop(clock, body, crew);
  loop.measure_count(200);
  EXPECT_GT(body.calls[0], 0);
  EXPECT_GT(body.calls[1], 0);
}

TEST(ClosedLoop, SamplesComeInTheOrderOfCompletionAndOverlap) {
  LaneCrew crew(2);
  Busy body;
  const SteadyClock clock;
  ClosedLoop loop(clock, body, crew);
  const auto samples = loop.measure_count(100).samples;
  int overlaps = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const auto end = [&](std::size_t k) { return samples[k].start_ns + samples[k].duration_ns; };
    ASSERT_LE(end(i - 1), end(i));
    overlaps += samples[i].start_ns < end(i - 1);
  }
  EXPECT_GT(overlaps, 0);
}

TEST(ClosedLoop, StopsWhenTheDeciderHasEnough) {
  LaneCrew crew(2);
  Busy body;
  const SteadyClock clock;
  stats::StopConfig stop;
  stop.n_min = 40;
  stop.t_min_ns = 20'000'000;
  stop.quantiles_ppm = {};
  ClosedLoop loop(clock, body, crew);
  AloneDecider decider(five(), stop);
  const auto result = loop.measure(decider, 200'000);
  EXPECT_GE(result.samples.size(), 40U);
  EXPECT_EQ(result.stop.reason, stats::kStopMinimum);
  EXPECT_GE(result.elapsed_ns, 15'000'000);
}

TEST(ClosedLoop, AnInterruptEndsIt) {
  LaneCrew crew(2);
  Busy body;
  const SteadyClock clock;
  const std::atomic<bool> interrupt = true;
  LoopHooks hooks;
  hooks.interrupt = &interrupt;
  ClosedLoop loop(clock, body, crew, hooks);
  const auto result = loop.measure_count(1'000'000);
  EXPECT_EQ(result.stop.reason, stats::kStopInterrupted);
  EXPECT_LT(result.samples.size(), 10U);
}

TEST(ClosedLoop, AnEngineThatThrowsEndsAllLanes) {
  LaneCrew crew(2);
  const SteadyClock clock;
  auto body = [](int lane) {
    if (lane == 1) throw Error(ErrorCode::kUnsupported, "cannot do that");
  };
  ClosedLoop loop(clock, body, crew);
  EXPECT_THROW(loop.measure_count(1'000'000'000), Error);
}

}  // namespace
}  // namespace paceline::measure
