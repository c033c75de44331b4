// SPDX-License-Identifier: MIT
#include "workload/training/live_words.h"

#include <gmock/gmock.h>

#include "result/figures/summarize_training.h"
#include "support/simulated_training.h"

namespace paceline::workload {
namespace {

using result::StepPart;
using ::testing::HasSubstr;
using ::testing::Not;

result::Training last_steps(const testing::SimulatedTraining& world, double wait_ms = 0) {
  auto run = testing::simulate(world);
  for (auto& table : run.ranks) table.rank.evidence.runq_wait_ns = table.rank.rank == 1 ? wait_ms * 1e6 : 0;
  result::Training t;
  t.ddp = true;
  result::summarize_training(t, run.ranks, 8);
  return t;
}

TEST(LiveWords, NothingIsSaidOfEvenRanks) {
  EXPECT_EQ(sync_warning(last_steps({}), 50), "");
  EXPECT_EQ(late_warning(last_steps({})), "");
}

TEST(LiveWords, ALateRankIsNamedWithItsPartAndItsCause) {
  const testing::SimulatedTraining late{.delays = {{.rank = 1, .ms = 20}}};
  const auto unknown = late_warning(last_steps(late));
  EXPECT_THAT(unknown, HasSubstr("the others wait for rank 1, which is late in its backward part: "));
  EXPECT_THAT(unknown, Not(HasSubstr("(")));
  EXPECT_THAT(late_warning(last_steps(late, 19)), HasSubstr("(a thread of it waited 19.0 ms per step"));
}

TEST(LiveWords, SynchronisationThatVariesIsSaidInPerCent) {
  result::Training t;
  t.sync_variation = 1.41, t.exposed_share = 0.2;
  EXPECT_EQ(sync_warning(t, 50), "gradient synchronisation varies by 41 % (p95/p50 over 50 steps)");
  EXPECT_EQ(sync_warning(t, 19), "") << "the p95 would be one step";
  t.exposed_share = 0.01;
  EXPECT_EQ(sync_warning(t, 50), "") << "it is not worth a word";
}

TEST(LiveFigures, TheSlowestRankIsNamedWithItsDistance) {
  const auto slowest = slowest_rank(last_steps({.jitter = 0, .delays = {{.rank = 3, .ms = 9.65}}}));
  ASSERT_TRUE(slowest);
  EXPECT_EQ(slowest->rank, 3);
  EXPECT_NEAR(slowest->beyond, 0.1, 0.001);
  EXPECT_FALSE(slowest_rank(last_steps({.ranks = 1})));
}

TEST(LiveFigures, TheSlowestRankHasTheCauseThatEvidenceNames) {
  const testing::SimulatedTraining late{.delays = {{.rank = 1, .ms = 20}}};
  EXPECT_EQ(slowest_rank(last_steps(late))->cause, "");
  EXPECT_THAT(slowest_rank(last_steps(late, 19))->cause, HasSubstr("a thread of it waited 19.0 ms per step"));
}

TEST(LiveFigures, AreOfTheLastSteps) {
  std::vector<result::StepRow> rows(2);
  for (auto& row : rows) {
    row.step_ns = 500'000'000, row.ns[StepPart::kForward] = 200'000'000,
    row.ns[StepPart::kBackward] = 250'000'000;
    row.ns[StepPart::kExposed] = 25'000'000, row.ns[StepPart::kOptimizer] = 25'000'000;
    row.loss = 2.345;
  }
  rows.front().loss = 9;
  const auto steps = live_steps(rows, 64, pass::SlowestRank{1, 0.018});
  ASSERT_TRUE(steps);
  EXPECT_DOUBLE_EQ(*steps->samples_per_s, 128);
  EXPECT_EQ(steps->loss, 2.345);
  EXPECT_EQ(steps->slowest.value().rank, 1);
  EXPECT_EQ(steps->shares[StepPart::kDataWait], 0.0);
  EXPECT_EQ(steps->shares[StepPart::kForward], 0.4);
  EXPECT_EQ(steps->shares[StepPart::kBackward], 0.5);
  EXPECT_EQ(steps->shares[StepPart::kExposed], 0.05);
  EXPECT_EQ(steps->shares[StepPart::kOptimizer], 0.05);
  EXPECT_FALSE(live_steps({}, 64, {}));
}

}  // namespace
}  // namespace paceline::workload
