// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <numbers>

#include "support/thread_group.h"
#include "workload/training/agreed_decider.h"
#include "workload/training/fault.h"
#include "workload/training/learning_rate.h"
#include "workload/training/step_clock.h"

namespace paceline::workload {
namespace {

TEST(LearningRate, WarmsUpLinearlyToItsBase) {
  const pass::ScheduleSpec schedule{.base = 0.4, .warmup_steps = 4};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 0.4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 400), 0.4);
}

TEST(LearningRate, CosineEndsAtItsLastShareAndStaysThere) {
  const pass::ScheduleSpec schedule{
      .name = "cosine", .base = 1, .warmup_steps = 10, .total_steps = 110, .last = 0.1};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 10), 1);
  EXPECT_NEAR(learning_rate(schedule, 60), 0.55, 1e-12);
  EXPECT_NEAR(learning_rate(schedule, 110), 0.1, 1e-12);
  EXPECT_NEAR(learning_rate(schedule, 500), 0.1, 1e-12);
}

TEST(LearningRate, StepsDownByItsFactor) {
  const pass::ScheduleSpec schedule{.name = "step", .base = 1, .step_every = 30, .gamma = 0.1};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 29), 1);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 30), 0.1);
  EXPECT_NEAR(learning_rate(schedule, 65), 0.01, 1e-15);
}

// torch.optim.lr_scheduler.CosineAnnealingLR(T_max=epochs x steps, eta_min=last x base), in its closed form.
double cosine_annealing(double base, double eta_min, double step, double t_max) {
  return eta_min + (base - eta_min) * (1 + std::cos(std::numbers::pi * step / t_max)) / 2;
}

TEST(LearningRate, CosineOfEpochsIsPyTorchs) {
  const auto schedule = in_steps({.name = "cosine", .base = 0.4, .last = 0.05, .epochs = 3}, 40);
  EXPECT_EQ(schedule.total_steps, 120);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 0.4);
  for (const int step : {0, 1, 59, 60, 61, 119})
    EXPECT_NEAR(learning_rate(schedule, step), cosine_annealing(0.4, 0.02, step, 120), 1e-15) << step;
  EXPECT_NEAR(learning_rate(schedule, 120), 0.02, 1e-15);
}

TEST(LearningRate, StepsOfEpochsComeAfterEachThird) {
  const auto schedule = in_steps({.name = "step", .base = 1, .gamma = 0.1, .epochs = 90}, 7);
  EXPECT_EQ(schedule.step_every, 30 * 7);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 30 * 7 - 1), 1);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 30 * 7), 0.1);
  EXPECT_NEAR(learning_rate(schedule, 90 * 7 - 1), 0.01, 1e-15);
}

TEST(LearningRate, NumbersOfStepsStayWhereThereAreAny) {
  const pass::ScheduleSpec asked{.name = "cosine", .total_steps = 50, .epochs = 3};
  EXPECT_EQ(in_steps(asked, 40).total_steps, 50);
  EXPECT_EQ(in_steps({.name = "cosine", .total_steps = 50}, 40).total_steps, 50);
}

TEST(FaultMaker, TouchesItsOwnRankAndStepOnly) {
  const auto fault = parse_fault("nan:rank=1,step=2");
  EXPECT_FALSE(FaultMaker(fault, 0).poisons(2));
  EXPECT_FALSE(FaultMaker(fault, 1).poisons(1));
  EXPECT_TRUE(FaultMaker(fault, 1).poisons(2));
}

// Keeps what it was asked, and says what a test wants.
class ScriptedDecider : public measure::StopDecider {
 public:
  [[nodiscard]] std::int64_t first_warmup_check() const override { return 3; }
  stats::WarmupDecision warmup(std::span<const double> d, std::int64_t) override {
    asked.insert(asked.end(), d.begin(), d.end());
    return {stats::WarmupState::kDone, 7};
  }
  [[nodiscard]] std::int64_t first_stop_check(double) const override { return 5; }
  stats::StopDecision stop(std::span<const double> d, std::int64_t) override {
    asked.assign(d.begin(), d.end());
    stats::StopDecision decision;
    decision.stop = d.size() > 2;
    decision.next_n = 11;
    return decision;
  }
  std::vector<double> asked;
};

TEST(AgreedDecider, AsksRankZeroAboutTheSlowestAndTellsEverybody) {
  std::mutex guard;
  test::on_ranks(3, [&](plugin::RankGroup& group) {
    ScriptedDecider own;
    AgreedDecider agreed(own, group);
    const double mine = 10.0 * group.rank();
    const auto warm = agreed.warmup(std::vector{1 + mine, 30 - mine}, 0);
    const auto first = agreed.first_stop_check(1);
    const auto going = agreed.stop(std::vector{5 + mine, 1.0}, 0);
    const auto done = agreed.stop(std::vector{5 + mine, 1.0, 2 + mine}, 0);
    const std::scoped_lock lock(guard);
    EXPECT_EQ(warm.state, stats::WarmupState::kDone);
    EXPECT_EQ(warm.next_n, 7);
    EXPECT_EQ(first, 5);
    EXPECT_FALSE(going.stop);
    EXPECT_EQ(going.next_n, 11);
    EXPECT_TRUE(done.stop);
    EXPECT_EQ(own.asked, group.rank() == 0 ? (std::vector{25.0, 1.0, 22.0}) : std::vector<double>{});
  });
}

TEST(AgreedEnd, AnInterruptOfOneEndsAllAtTheSameStep) {
  std::mutex guard;
  std::vector<std::int64_t> ends;
  test::on_ranks(3, [&](plugin::RankGroup& group) {
    std::atomic<bool> interrupt{false};
    AgreedEnd end(interrupt, &group);
    std::int64_t step = 0;
    for (; step < 1000 && !end.flag(); ++step) {
      if (group.rank() == 1 && step == 7) interrupt = true;
      end.ask(step, 100'000'000 * (1 + group.rank()));  // ns: they ask after every second step or so
    }
    const std::scoped_lock lock(guard);
    ends.push_back(step);
  });
  EXPECT_EQ(ends, (std::vector<std::int64_t>(3, ends.front())));
  EXPECT_GE(ends.front(), 8);
  EXPECT_LE(ends.front(), 12);
}

TEST(AgreedEnd, OneRankEndsAtOnce) {
  std::atomic<bool> interrupt{false};
  AgreedEnd end(interrupt, nullptr);
  end.ask(3, 1);
  EXPECT_FALSE(end.flag());
  interrupt = true;
  end.ask(4, 1);
  EXPECT_TRUE(end.flag());
}

TEST(StepClock, PhasesThatRepeatAddUpAndTheWholeIsTheSum) {
  using plugin::StepPhase;
  StepClock clock;
  clock.begin();
  clock.input_here();
  for (int micro_batch = 0; micro_batch < 3; ++micro_batch) {
    clock.enter(StepPhase::kInput);
    clock.enter(StepPhase::kForward);
    clock.enter(StepPhase::kBackward);
  }
  clock.launched(0, 100);
  clock.launched(1, 40);
  clock.finished(1);
  clock.finished(0);
  clock.enter(StepPhase::kCommunication);
  clock.enter(StepPhase::kOptimizer);
  clock.enter(StepPhase::kEnd);
  const auto times = clock.times();
  const auto sum = std::accumulate(times.phase_ns.begin(), times.phase_ns.end(), times.data_wait_ns);
  EXPECT_LE(sum, times.step_ns);
  EXPECT_GT(sum, 0);
  const auto& buckets = times.buckets;
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].bytes, 100);
  ASSERT_TRUE(buckets[0].finished_ns && buckets[1].finished_ns);
  EXPECT_LE(buckets[1].launched_ns, *buckets[1].finished_ns);
  EXPECT_LE(*buckets[1].finished_ns, *buckets[0].finished_ns);
  clock.begin();
  EXPECT_TRUE(clock.times().buckets.empty());
  clock.launched(0, 100);
  ASSERT_EQ(clock.times().buckets.size(), 1U);
  EXPECT_FALSE(clock.times().buckets[0].finished_ns) << "of the step before";
}

}  // namespace
}  // namespace paceline::workload
