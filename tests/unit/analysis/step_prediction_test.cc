// SPDX-License-Identifier: MIT
#include "analysis/step_prediction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "result/figures/summarize_training.h"
#include "support/simulated_training.h"

namespace paceline::analysis {
namespace {

using testing::SimulatedTraining;

result::CaseResult case_with(SimulatedTraining world, std::int64_t ranks) {
  world.ranks = ranks;
  world.seed = world.seed * 1000 + static_cast<std::uint64_t>(ranks);
  const auto run = testing::simulate(world);
  result::CaseResult one;
  one.case_id = "r" + std::to_string(ranks);
  one.benchmark.world_size = ranks;
  auto& t = one.payload.emplace<result::Training>();
  t.ddp = ranks > 1;
  result::summarize_training(t, run.ranks, 8);
  return one;
}

ScalePoint measured(const SimulatedTraining& world, std::int64_t ranks) {
  return point_of(case_with(world, ranks)).at(0);
}

std::vector<ScalePoint> sweep(const SimulatedTraining& world) {
  return {measured(world, 4), measured(world, 1), measured(world, 2)};
}

TEST(StepPrediction, EightRanksFromOneTwoAndFour) {
  const SimulatedTraining world{.steps = 104, .gb_per_s = 0.5};
  const auto study = predict_steps(sweep(world), {8, 32});
  ASSERT_EQ(study.refused, "");
  EXPECT_NEAR(study.link.alpha_ns, 50e3, 5e3);
  EXPECT_NEAR(1 / study.link.ns_per_byte, 0.5, 0.02);
  const double truth = measured(world, 8).step_ns();
  EXPECT_NEAR(study.predictions[0].step_ns, truth, 0.05 * truth);
  EXPECT_FALSE(study.predictions[0].model_only);
  EXPECT_TRUE(study.predictions[1].model_only) << "32 is more than four times 4";
}

// The methodology's example, whose exposed communication the maximum bound misses.
TEST(StepPrediction, TheLastBucketIsNeverHidden) {
  ScalePoint point{.world = 4, .own_ns = 125e6, .communication_ns = 8e6};
  for (int i = 4; i >= 0; --i) point.buckets.push_back({20e6, i * 16e6, 6 * 15e3 + 1.5 * 20e6 / 5});
  auto two = point;
  two.world = 2;
  for (auto& bucket : two.buckets) bucket.transfer_ns = 2 * 15e3 + 20e6 / 5.0;
  two.communication_ns = 4e6;
  point.communication_ns = 6e6;
  const auto study = predict_steps({two, point}, {8});
  ASSERT_EQ(study.refused, "");
  EXPECT_NEAR(study.predictions[0].communication_ns, 14 * 15e3 + 1.75 * 20e6 / 5, 1e4);
}

TEST(StepPrediction, TheBandHoldsTheTruthInNineOfTenSimulations) {
  std::map<std::int64_t, int> inside;
  int refused = 0;
  constexpr int kStudies = 300;
  for (int i = 0; i < kStudies; ++i) {
    const CounterRng random(static_cast<std::uint64_t>(i), 11);
    SimulatedTraining world{.steps = 44,
                            .forward_ms = 10 + 40 * random.uniform(0),
                            .backward_ms = 20 + 80 * random.uniform(1),
                            .jitter = 0.003 + 0.03 * random.uniform(2),
                            .alpha_ms = 0.02 + 0.3 * random.uniform(3),
                            .gb_per_s = 0.2 + 3 * random.uniform(4),
                            .seed = static_cast<std::uint64_t>(i)};
    const auto study = predict_steps(sweep(world), {8, 16});
    if (!study.refused.empty()) {
      ++refused;
      continue;
    }
    for (const auto& p : study.predictions) {
      const double truth = measured(world, p.world).step_ns();
      inside[p.world] += p.low_ns <= truth && truth <= p.high_ns;
    }
  }
  RecordProperty("refused", refused);
  EXPECT_LE(refused, kStudies / 5);
  for (const auto& [world, count] : inside)
    EXPECT_GE(count, (kStudies - refused) * 9 / 10) << world << " ranks, " << refused << " refused";
}

TEST(StepPrediction, ALinkThatChangesWithTheNumberOfRanksIsRefused) {
  const SimulatedTraining world{.gb_per_s = 0.5};
  SimulatedTraining farther = world;
  farther.gb_per_s = 0.1;
  const auto study = predict_steps({measured(world, 1), measured(world, 2), measured(farther, 4)}, {8});
  EXPECT_NE(study.refused.find("predicts the step of 4 ranks"), std::string::npos) << study.refused;
  EXPECT_TRUE(study.predictions.empty());
}

TEST(StepPrediction, RanksOfOneHostSayNothingOfRanksOfSeveral) {
  result::RunResult run;
  for (const std::int64_t ranks : {1, 2, 4}) {
    run.cases.push_back(case_with({.gb_per_s = 0.5}, ranks));
    if (ranks > 1) run.cases.back().scaling.emplace().base_case_id = "r1";
  }
  EXPECT_EQ(predict_beyond(run, "r1").refused, "") << "each rank has a host of its own";
  for (auto& rank : run.cases[1].training()->ranks) rank.host = "node0";
  EXPECT_NE(predict_beyond(run, "r1").refused.find("on one host and others on several"), std::string::npos);
}

TEST(StepPrediction, TooLittleIsRefusedWithTheReason) {
  const SimulatedTraining world;
  EXPECT_NE(predict_steps({measured(world, 1), measured(world, 2)}, {8}).refused.find("two measured"),
            std::string::npos);
  auto silent = sweep(world);
  for (auto& point : silent)
    for (auto& bucket : point.buckets) bucket.transfer_ns = 0;
  EXPECT_NE(predict_steps(silent, {8}).refused.find("not heard of"), std::string::npos);
  EXPECT_TRUE(point_of({}).empty());
}

TEST(StepPrediction, ExpectedLargestOfNormals) {
  EXPECT_DOUBLE_EQ(expected_largest(1), 0);
  EXPECT_NEAR(expected_largest(2), 0.56, 0.03);
  EXPECT_NEAR(expected_largest(8), 1.43, 0.03);
  EXPECT_NEAR(expected_largest(256), 2.83, 0.03);
}

}  // namespace
}  // namespace paceline::analysis
