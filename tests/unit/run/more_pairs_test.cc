// SPDX-License-Identifier: MIT
#include "run/more_pairs.h"

#include <gtest/gtest.h>

#include "unit/run/coordinated.h"

namespace paceline::run {
namespace {

using pass::PassKind;
using testing::FakeExecutor;
using testing::Played;

// Every other process of the second case is in a slow mode, until repetition `calm`.
FakeExecutor::MayPlay plays_modes_until(std::int64_t calm) {
  return [calm](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind != PassKind::kTimed) return std::nullopt;
    const bool slow = r.spec.case_id == kB2 && r.spec.repetition < calm && r.spec.repetition % 2 == 0;
    return testing::plays_samples(r.spec, slow ? 6'000'000 : 2'000'000);
  };
}

class MorePairs : public Coordinated {
 protected:
  void expect_repetitions(const result::RunResult& done, std::size_t count) {
    for (const auto& c : done.cases) {
      EXPECT_EQ(c.repetitions.size(), count) << c.case_id;
      EXPECT_EQ(c.repetitions_planned, static_cast<std::int64_t>(count)) << c.case_id;
      EXPECT_TRUE(c.complete) << c.case_id;
    }
  }
};

TEST_F(MorePairs, AreMeasuredOnceWhereProcessesHaveModes) {
  FakeExecutor fake(plays_modes_until(100));
  const auto done = run(plan_of_batches("[1, 2]", 6), fake);
  expect_repetitions(done, 12);
  ASSERT_EQ(notes_.notices.size(), 1U);
  EXPECT_EQ(notes_.notices.front(),
            "the times of the processes differ too much: twice the process pairs for 2 cases");
  EXPECT_EQ(notes_.timed.back().number, 24U);
  EXPECT_EQ(notes_.timed.back().of, 24U);
}

TEST_F(MorePairs, AreNotMeasuredWhereTheFirstOnesAgree) {
  FakeExecutor fake(plays_modes_until(0));
  expect_repetitions(run(plan_of_batches("[1, 2]", 6), fake), 6);
  EXPECT_TRUE(notes_.notices.empty());
}

TEST_F(MorePairs, BelowSixNothingIsClaimedAndNothingAdded) {
  FakeExecutor fake(plays_modes_until(100));
  expect_repetitions(run(plan_of_batches("[1, 2]", 5), fake), 5);
}

// The third case is compared with the first, as the second is.
TEST_F(MorePairs, OnlyThoseThatLackASizeAndTheirPartners) {
  FakeExecutor fake(plays_modes_until(100));
  const auto done = run(plan_of_batches("[1, 2, 4]", 6), fake);
  EXPECT_EQ(case_named(done, kB1).repetitions.size(), 12U);
  EXPECT_EQ(case_named(done, kB2).repetitions.size(), 12U);
  EXPECT_EQ(case_named(done, "tiny_cnn-eager-fp32-b4").repetitions.size(), 6U);
}

TEST_F(MorePairs, OfAResumedRunAreThoseThatAreMissing) {
  FakeExecutor first([&](const process::WorkerRequest& r) {
    if (r.spec.kind == PassKind::kTimed && r.spec.repetition == 8) interrupt_ = true;
    return plays_modes_until(100)(r);
  });
  EXPECT_EQ(run(plan_of_batches("[1, 2]", 6), first).outcome, "interrupted");
  interrupt_ = false;
  FakeExecutor second(plays_modes_until(100));
  const auto done = run(plan_of_batches("[1, 2]", 6), second, {}, /*resume=*/true);
  expect_repetitions(done, 12);
  EXPECT_EQ(first.order(/*timed_only=*/true).size() + second.order(true).size(), 24U + 1U);
  FakeExecutor third;
  expect_repetitions(run(plan_of_batches("[1, 2]", 6), third, {}, /*resume=*/true), 12);
  EXPECT_TRUE(third.order(true).empty());
}

}  // namespace
}  // namespace paceline::run
