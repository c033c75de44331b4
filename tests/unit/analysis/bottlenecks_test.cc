// SPDX-License-Identifier: MIT
#include "analysis/bottlenecks.h"

#include <gmock/gmock.h>

#include "analysis/finding_table.h"
#include "result/figures/summarize_training.h"
#include "support/simulated_training.h"

namespace paceline::analysis {
namespace {

using result::OwnPart;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SimulatedTraining;

result::RunResult profiled(const SimulatedTraining& world) {
  result::RunResult run;
  auto& one = run.cases.emplace_back();
  one.case_id = one.label = "a case";
  one.outcome = result::Outcome::kOk;
  one.benchmark.kind = WorkloadKind::kTraining;
  one.benchmark.world_size = world.ranks;
  auto& t = one.payload.emplace<result::Training>();
  t.ddp = world.ranks > 1;
  result::summarize_training(t, testing::simulate(world).ranks, 8);
  run.findings = find_all(run);
  return run;
}

std::vector<std::string> ids_of(const SimulatedTraining& world, std::string_view target = "all") {
  const auto run = profiled(world);
  std::vector<std::string> ids;
  for (const auto& b : bottlenecks_of(run.cases[0], run.findings, target)) ids.push_back(b.finding.id);
  return ids;
}

TEST(Bottlenecks, TheMostExpensiveComesFirst) {
  const SimulatedTraining world{.bucket_bytes = {8 << 20, 8 << 20, 4 << 20},
                                .gb_per_s = 0.3,
                                .delays = {{.rank = 2, .where = OwnPart::kForward, .ms = 120},
                                           {.where = OwnPart::kDataWait, .ms = 25}}};
  EXPECT_THAT(ids_of(world), ElementsAre("straggler", "exposed_communication", "data_bound"));
  EXPECT_THAT(ids_of(world, "input"), ElementsAre("data_bound"));
  EXPECT_THAT(ids_of(world, "sync_stalls"), ElementsAre("straggler", "exposed_communication"));
  EXPECT_THAT(ids_of(world, "host"), IsEmpty());
}

TEST(Bottlenecks, HaveTheCostsThatWerePutIn) {
  const SimulatedTraining world{.jitter = 0, .gb_per_s = 10, .delays = {{.where = OwnPart::kHost, .ms = 20}}};
  const auto run = profiled(world);
  const auto found = bottlenecks_of(run.cases[0], run.findings);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].target, "host");
  EXPECT_NEAR(*found[0].cost_ns.value, 20e6, 1e5);
  EXPECT_NEAR(*found[0].share, 20 / testing::simulate(world).truth.step_ms, 0.01);
}

TEST(Bottlenecks, AStepThatOnlyComputesHasNone) {
  EXPECT_THAT(ids_of({.gb_per_s = 20}), IsEmpty());
  EXPECT_THAT(ids_of({.ranks = 1}), IsEmpty());
}

TEST(Bottlenecks, SyncStallsAreCommunicationAndWaiting) {
  const auto run = profiled({.gb_per_s = 0.4, .delays = {{.rank = 1, .where = OwnPart::kForward, .ms = 30}}});
  const auto shape = shape_of(run.cases[0]);
  ASSERT_TRUE(shape.stall_share);
  EXPECT_DOUBLE_EQ(*shape.stall_share, *shape.communication_share + *shape.straggler_wait_share);
  EXPECT_NEAR(*shape.stall_ns, *shape.stall_share * *shape.step_ns, 1);
}

TEST(Bottlenecks, SeveralRanksThatExchangeNothingAreAnError) {
  auto run = profiled({});
  run.cases[0].training()->collectives_per_step = 3;
  EXPECT_EQ(no_communication(run.cases[0]), "");
  run.cases[0].training()->collectives_per_step = 0;
  EXPECT_THAT(no_communication(run.cases[0]), HasSubstr("among 4 ranks"));
  EXPECT_EQ(no_communication(profiled({.ranks = 1}).cases[0]), "");
}

}  // namespace
}  // namespace paceline::analysis
