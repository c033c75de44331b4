// SPDX-License-Identifier: MIT
#include "run/turn_groups.h"

#include <gtest/gtest.h>

#include "unit/run/coordinated.h"

// Which timed passes work in turns, on passes that are played.
namespace paceline::run {
namespace {

using testing::fails;
using testing::FakeExecutor;

std::string on_one_thread(const std::string& batches, int repetitions) {
  return plan_of_batches(batches, repetitions) + "threads: 1\n";
}

class InTurns : public Coordinated {
 protected:
  // Why the last timed pass of the case was to work alone.
  static std::string reason_of(const FakeExecutor& fake, const std::string& id) {
    std::string reason = "it was not timed";
    for (const auto& request : fake.requests)
      if (request.spec.case_id == id && pass::traits_of(request.spec.kind).timed)
        reason = request.spec.inference.alone;
    return reason;
  }
};

TEST_F(InTurns, EachRepetitionOfAllCasesIsOneRound) {
  FakeExecutor fake;
  const auto done = run(on_one_thread("[1, 2]", 6), fake);
  EXPECT_EQ(done.outcome, "ok");
  ASSERT_EQ(fake.rounds.size(), 6U);
  for (const auto& round : fake.rounds) EXPECT_EQ(round.size(), 2U);
  EXPECT_NE(fake.rounds[0], fake.rounds[1]);                                 // A B, then B A
  EXPECT_EQ(reason_of(fake, kB1), "the processes ran one after the other");  // here they did
}

TEST_F(InTurns, ASingleCaseHasNoPartner) {
  FakeExecutor fake;
  run(on_one_thread("[1]", 2), fake);
  EXPECT_TRUE(fake.rounds.empty());
  EXPECT_EQ(reason_of(fake, kB1), "there is no other case");
}

TEST_F(InTurns, FewRepetitionsShowTheirFirstFigureSooner) {
  FakeExecutor fake;
  run(on_one_thread("[1, 2]", 5), fake);
  EXPECT_TRUE(fake.rounds.empty());
  EXPECT_EQ(reason_of(fake, kB1), "there are fewer than six pairs");
}

TEST_F(InTurns, SeveralThreadsRunOneAfterTheOther) {
  FakeExecutor fake;
  run(plan_of_batches("[1, 2]", 6) + "threads: 2\n", fake);
  EXPECT_TRUE(fake.rounds.empty());
  EXPECT_EQ(reason_of(fake, kB1), "it has several threads, whose times vary more in turns");
}

TEST_F(InTurns, MayBeSwitchedOff) {
  FakeExecutor fake;
  run(on_one_thread("[1, 2]", 6) + "turns: false\n", fake);
  EXPECT_TRUE(fake.rounds.empty());
  EXPECT_EQ(reason_of(fake, kB2), "turns is false");
}

TEST_F(InTurns, MoreThanEightCasesRunOneAfterTheOther) {
  FakeExecutor fake;
  run(on_one_thread("[1, 2, 3, 4, 5, 6, 7, 8, 9]", 6), fake);
  EXPECT_TRUE(fake.rounds.empty());
  EXPECT_EQ(reason_of(fake, kB1), "there are more than 8 cases");
}

TEST_F(InTurns, ProcessesOfOthersAreNotHeldUp) {
  auto setup = setup_of(on_one_thread("[1, 2]", 1));
  setup.in_process = true;
  CaseRun one, other;
  EXPECT_EQ(why_not_in_turns({&one, &other}, setup), "its processes are started by others");
}

TEST_F(InTurns, ACaseThatFailsLeavesTheOthers) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> std::optional<testing::Played> {
    if (r.spec.kind == pass::PassKind::kTimed && r.spec.case_id == kB2) return fails("crash");
    return std::nullopt;
  });
  const auto done = run(on_one_thread("[1, 2, 4]", 6), fake);
  EXPECT_EQ(case_named(done, kB2).outcome, result::Outcome::kFailed);
  EXPECT_EQ(case_named(done, kB1).repetitions.size(), 6U);
  EXPECT_EQ(fake.rounds.back().size(), 2U);
}

}  // namespace
}  // namespace paceline::run
