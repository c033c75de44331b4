// SPDX-License-Identifier: MIT
// A run of one case and one process: its figure stands before the check, which may withdraw it.
#include <gtest/gtest.h>

#include "unit/run/coordinated.h"

namespace paceline::run {
namespace {

using pass::PassKind;
using testing::fails;
using testing::FakeExecutor;
using testing::Played;

std::size_t place_of(const FakeExecutor& fake, const std::string& pass) {
  const auto all = fake.order();
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), kB1 + (" " + pass + " 0")) - all.begin());
}

Played plays_wrong_outputs() {
  result::Correctness wrong;
  wrong.checked = true;
  wrong.verdict = answer::Verdict::kNo;
  wrong.detail = "outputs differ";
  return {{pass::check_record(wrong, {})}, {}};
}

TEST_F(Coordinated, OneCaseAndProcessIsTimedBeforeItsCheck) {
  FakeExecutor fake;
  const auto done = run(plan_of_batches("[1]", 1), fake);
  EXPECT_EQ(done.outcome, "ok");
  EXPECT_LT(place_of(fake, "timed"), place_of(fake, "check"));
  EXPECT_EQ(count_of(fake, " timed "), 1);
  EXPECT_EQ(count_of(fake, " check "), 1);
  const auto& c = case_named(done, kB1);
  EXPECT_TRUE(c.complete);
  EXPECT_TRUE(c.correctness.passed);
  EXPECT_EQ(c.repetitions.size(), 1U);
}

TEST_F(Coordinated, SeveralRepetitionsFollowTheCheck) {
  FakeExecutor fake;
  run(plan_of_batches("[1]", 2), fake);
  EXPECT_LT(place_of(fake, "check"), place_of(fake, "timed"));
}

TEST_F(Coordinated, ACheckThatFailsWithdrawsTheFigure) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind == PassKind::kCheck) return plays_wrong_outputs();
    return std::nullopt;
  });
  const auto done = run(plan_of_batches("[1]", 1), fake);
  const auto& c = case_named(done, kB1);
  EXPECT_EQ(c.outcome, result::Outcome::kFailed);
  EXPECT_EQ(c.reason_code, "accuracy");
  EXPECT_TRUE(c.repetitions.empty());
  EXPECT_EQ(count_of(fake, " timed "), 1);
  EXPECT_EQ(notes_.ended, std::vector<std::string>{kB1});
}

TEST_F(Coordinated, ATimedPassThatDiesIsExplainedByTheCheck) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind == PassKind::kTimed) return fails("crash", "died in phase 'load'");
    if (r.spec.kind == PassKind::kCheck) return fails("unsupported", "no such operator");
    return std::nullopt;
  });
  const auto done = run(plan_of_batches("[1]", 1), fake);
  EXPECT_EQ(case_named(done, kB1).reason, "no such operator");
}

TEST_F(Coordinated, ATimedPassThatDiesBeforeAGoodCheckRunsAgain) {
  int deaths = 1;
  FakeExecutor fake([&](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind == PassKind::kTimed && deaths-- > 0) return fails("crash", "died in phase 'load'");
    return std::nullopt;
  });
  const auto done = run(plan_of_batches("[1]", 1), fake);
  EXPECT_EQ(done.outcome, "ok");
  EXPECT_EQ(count_of(fake, " timed "), 2);
}

}  // namespace
}  // namespace paceline::run
