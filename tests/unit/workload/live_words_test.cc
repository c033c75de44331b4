// SPDX-License-Identifier: MIT
#include "workload/training/live_words.h"

#include <gmock/gmock.h>

#include "result/summarize_training.h"
#include "support/simulated_training.h"

namespace paceline::workload {
namespace {

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

TEST(LiveWords, TheSlowestRankIsSaidWithItsDistance) {
  EXPECT_EQ(slowest_words(last_steps({.jitter = 0, .delays = {{.rank = 3, .ms = 9.65}}})),
            "slowest: rank 3 (+10.0 %)");
  EXPECT_EQ(slowest_words(last_steps({.ranks = 1})), "");
}

TEST(LiveWords, FiguresAreOfTheLastSteps) {
  std::vector<result::StepRow> rows(2);
  for (auto& row : rows) {
    row.step_ns = 500'000'000, row.forward_ns = 200'000'000, row.backward_ns = 250'000'000;
    row.exposed_ns = 25'000'000, row.optimizer_ns = 25'000'000;
    row.loss = 2.345;
  }
  EXPECT_EQ(live_figures(rows, 64, "slowest: rank 1 (+1.8 %)"),
            "128 samples/s  loss 2.35  slowest: rank 1 (+1.8 %)  data 0.0 %  fwd 40.0 %  bwd 50.0 %  exposed "
            "comm 5.0 %  opt 5.0 %");
  EXPECT_EQ(live_figures({}, 64, ""), "");
}

}  // namespace
}  // namespace paceline::workload
