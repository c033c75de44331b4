// SPDX-License-Identifier: MIT
#include "analysis/self_test.h"

#include <gmock/gmock.h>

#include "analysis/finding_table.h"
#include "result/figures/summarize_training.h"
#include "result/stored/step_file.h"
#include "support/simulated_training.h"

namespace paceline::analysis {
namespace {

using result::OwnPart;
using ::testing::HasSubstr;
using testing::SimulatedTraining;

void add_measured(result::RunResult& run, const std::vector<result::RankSteps>& ranks,
                  const std::string& inject) {
  auto& one = run.cases.emplace_back();
  one.case_id = one.label = "case " + std::to_string(run.cases.size());
  one.outcome = result::Outcome::kOk;
  one.benchmark.kind = WorkloadKind::kTraining;
  one.benchmark.world_size = std::ssize(ranks);
  if (!inject.empty()) one.benchmark.fault = inject;
  auto& t = one.payload.emplace<result::Training>();
  t.ddp = true;
  result::summarize_training(t, ranks, 8);
}

// `disturbed_ms`: another process takes rank 1's CPU for so long per step.
void add_case(result::RunResult& run, const SimulatedTraining& world, const std::string& inject,
              double disturbed_ms = 0) {
  auto ranks = testing::simulate(world).ranks;
  for (auto& table : ranks) {
    table.rank.evidence.runq_wait_ns = table.rank.rank == 1 ? disturbed_ms * 1e6 : 0;
    table.rank.evidence.foreign_frac = table.rank.rank == 1 && disturbed_ms > 0 ? 0.5 : 0;
  }
  add_measured(run, ranks, inject);
}

void add_recorded(result::RunResult& run, const std::string& name, const std::string& inject) {
  add_measured(run, result::read_step_file(TEST_DATA "/timelines/" + name + ".bin").ranks, inject);
}

// Step files of live self-tests, one repetition each: four of each fault, and four without one.
TEST(SelfTest, TwentyRecordedTimelinesAreNamed) {
  const std::vector<std::pair<std::string, std::string>> faults{{"nothing", ""},
                                                                {"slow", "slow=40ms:rank=1"},
                                                                {"slow_load", "slow_load=40ms"},
                                                                {"slow_link", "slow_link=40ms"},
                                                                {"throttle", "throttle:rank=1"}};
  result::RunResult run;
  for (const auto& [name, inject] : faults)
    for (int i = 0; i < 4; ++i) add_recorded(run, name + "-" + std::to_string(i), inject);
  const auto rows = judge_self_test(run, find_all(run));
  ASSERT_EQ(rows.size(), 20U);
  for (const auto& row : rows)
    EXPECT_TRUE(row.right) << row.case_id << ": " << row.injected << ": " << row.named;
}

// Recorded on a CPU so fast that exchanges, which wait for the scheduler, cost as much as the neighbour does.
// In the clean run buffers often reached rank 1 four milliseconds late.
TEST(SelfTest, LateBuffersNameNoRankAndANeighbourIsNamedWithThem) {
  result::RunResult run;
  add_recorded(run, "nothing-4", "");
  add_recorded(run, "throttle-4", "throttle:rank=1");
  for (const auto& row : judge_self_test(run, find_all(run)))
    EXPECT_TRUE(row.right) << row.injected << ": " << row.named;
}

// 20 simulated timelines: four of each cause, and four clean ones.
TEST(SelfTest, TwentySimulatedTimelinesAreNamed) {
  result::RunResult run;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const SimulatedTraining clean{.ranks = 2 + static_cast<std::int64_t>(seed), .gb_per_s = 10, .seed = seed};
    SimulatedTraining slow = clean, neighbour = clean, loader = clean, link = clean;
    slow.delays = {{.rank = 1, .where = OwnPart::kHost, .ms = 30}};
    neighbour.delays = {{.rank = 1, .where = OwnPart::kForward, .ms = 20},
                        {.rank = 1, .where = OwnPart::kBackward, .ms = 40}};
    loader.delays = {{.where = OwnPart::kDataWait, .ms = 30}};
    link.alpha_ms = 20;
    add_case(run, clean, "");
    add_case(run, slow, "slow=30ms:rank=1");
    add_case(run, neighbour, "throttle:rank=1", 55);
    add_case(run, loader, "slow_load=30ms");
    add_case(run, link, "slow_link=20ms");
  }
  const auto rows = judge_self_test(run, find_all(run));
  ASSERT_EQ(rows.size(), 20U);
  for (const auto& row : rows)
    EXPECT_TRUE(row.right) << row.case_id << ": " << row.injected << ": " << row.named;
}

// A link so slow that it costs more than the fault does: what the fault adds is named.
TEST(SelfTest, CausesInTheCleanRunAreNotNamed) {
  result::RunResult run;
  const SimulatedTraining clean{.ranks = 2, .alpha_ms = 20, .gb_per_s = 10};
  SimulatedTraining neighbour = clean;
  neighbour.delays = {{.rank = 1, .where = OwnPart::kForward, .ms = 15}};
  add_case(run, neighbour, "throttle:rank=1", 14);
  EXPECT_EQ(judge_self_test(run, find_all(run)).front().named, "a slow link");
  add_case(run, clean, "");
  const auto rows = judge_self_test(run, find_all(run));
  EXPECT_EQ(rows[0].named, "a late rank (rank 1: another process on its CPUs)");
  EXPECT_TRUE(rows[0].right && rows[1].right);
}

TEST(SelfTest, AnUnnamedFaultIsWrong) {
  result::RunResult run;
  add_case(run, {.gb_per_s = 10}, "slow=30ms:rank=1");
  add_case(run, {.gb_per_s = 10, .delays = {{.rank = 2, .where = OwnPart::kHost, .ms = 30}}},
           "slow=30ms:rank=1");
  add_case(run, {.ranks = 3, .gb_per_s = 10, .delays = {{.rank = 2, .where = OwnPart::kHost, .ms = 30}}}, "");
  add_case(run, {.gb_per_s = 10}, "slow_load=5ms");
  SimulatedTraining late{.gb_per_s = 10, .delays = {{.rank = 1, .where = OwnPart::kHost, .ms = 30}}};
  add_case(run, late, "throttle:rank=1");       // the rank without the cause
  add_case(run, late, "slow=30ms:rank=1", 25);  // a cause where there is none
  run.cases[3].outcome = result::Outcome::kFailed;
  run.cases[3].reason = "it crashed";
  const auto rows = judge_self_test(run, find_all(run));
  for (const auto& row : rows) EXPECT_FALSE(row.right) << row.case_id;
  EXPECT_EQ(rows[0].named, "nothing");
  EXPECT_EQ(rows[1].named, "a late rank (rank 2: cause unknown)");
  EXPECT_EQ(rows[4].named, "a late rank (rank 1: cause unknown)");
  EXPECT_EQ(rows[5].named, "a late rank (rank 1: another process on its CPUs)");
  EXPECT_THAT(rows[3].named, HasSubstr("it crashed"));
}

}  // namespace
}  // namespace paceline::analysis
