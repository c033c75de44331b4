// SPDX-License-Identifier: MIT
// The coordinator on passes that are played: order, failures, interrupts, resuming and what is written when.
#include "run/coordinator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "result/stored/result_json.h"
#include "unit/run/coordinated.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;
using pass::PassKind;
using testing::fails;
using testing::FakeExecutor;
using testing::Played;

std::string two_cases(int repetitions) {
  return plan_of_batches("[1, 2]", repetitions);
}

TEST_F(Coordinated, ChecksComeFirstAndTimedPassesAreInterleaved) {
  FakeExecutor fake;
  const auto done = run(two_cases(4), fake);
  EXPECT_EQ(done.outcome, "ok");
  const auto all = fake.order();
  const auto first_timed = std::find_if(all.begin(), all.end(),
                                        [](const auto& w) { return w.find(" timed ") != std::string::npos; });
  for (const auto* id : {kB1, kB2})
    EXPECT_LT(std::find(all.begin(), all.end(), std::string(id) + " check 0"), first_timed) << id;
  const auto timed = fake.order(/*timed_only=*/true);
  ASSERT_EQ(timed.size(), 8U);
  for (int r = 0; r < 4;
       ++r)  // a repetition of every case, then the next of any; the next in the other order
    for (int i = 0; i < 2; ++i) EXPECT_EQ(timed[static_cast<std::size_t>(2 * r + i)].back(), '0' + r) << r;
  EXPECT_NE(timed[0].substr(0, timed[0].size() - 1), timed[2].substr(0, timed[2].size() - 1));
  for (const auto& c : done.cases) {
    EXPECT_TRUE(c.complete) << c.case_id;
    EXPECT_EQ(c.repetitions.size(), 4U);
    EXPECT_NEAR(*c.headline.p50_ns.value, 1e6, 1e4);
  }
}

TEST_F(Coordinated, AFailureCostsItsCaseOnly) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.case_id == kB2 && r.spec.kind == PassKind::kCheck)
      return fails("crash", "died in phase 'load'");
    return std::nullopt;
  });
  const auto done = run(two_cases(2), fake);
  EXPECT_EQ(done.outcome, "failed");
  const auto& bad = case_named(done, kB2);
  EXPECT_EQ(bad.outcome, result::Outcome::kFailed);
  EXPECT_EQ(bad.reason_code, "crash");
  EXPECT_EQ(bad.reason, "died in phase 'load'");
  EXPECT_TRUE(case_named(done, kB1).complete);
  EXPECT_EQ(count_of(fake, std::string(kB2) + " timed"), 0);
  EXPECT_EQ(notes_.ended.front(), kB2);
}

TEST_F(Coordinated, ATimedPassThatFailsEndsItsCaseAndKeepsWhatWasMeasured) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.case_id == kB1 && r.spec.kind == PassKind::kTimed && r.spec.repetition == 1)
      return fails("oom", "no room");
    return std::nullopt;
  });
  const auto done = run(two_cases(4), fake);
  const auto& bad = case_named(done, kB1);
  EXPECT_EQ(bad.reason_code, "oom");
  EXPECT_FALSE(bad.complete);
  EXPECT_EQ(bad.repetitions.size(), 1U);
  EXPECT_EQ(count_of(fake, std::string(kB1) + " timed"), 2);  // nothing is tried after it
  EXPECT_EQ(case_named(done, kB2).repetitions.size(), 4U);
}

TEST_F(Coordinated, ResultsAreWrittenBeforeTheNextPass) {
  int looked = 0;
  FakeExecutor fake([&](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind != PassKind::kTimed || r.spec.repetition != 1) return std::nullopt;
    EXPECT_TRUE(fs::exists(folder() / "cases" / r.spec.case_id / "passes" / "timed-0.jsonl"));
    EXPECT_TRUE(fs::exists(folder() / "run_summary.json"));
    ++looked;
    return std::nullopt;
  });
  run(two_cases(2), fake);
  EXPECT_EQ(looked, 2);
  for (const auto* id : {kB1, kB2})
    EXPECT_EQ(
        nlohmann::json::parse(read_file(folder() / "cases" / id / "result.json")).at("repetitions").size(),
        2U);
  EXPECT_EQ(result::changed_results(result::read_run(folder())), std::vector<std::string>{});
  EXPECT_FALSE(fs::exists(folder() / ".artefacts"));
}

TEST_F(Coordinated, AnInterruptKeepsFinishedRepetitionsAndStartsNothingMore) {
  FakeExecutor fake([&](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind == PassKind::kTimed && r.spec.repetition == 1) interrupt_ = true;
    return std::nullopt;
  });
  const auto done = run(two_cases(3), fake);
  EXPECT_EQ(done.outcome, "interrupted");
  EXPECT_EQ(fake.order(true).size(), 3U);
  for (const auto& c : done.cases) {
    EXPECT_EQ(c.repetitions.size(), 1U);
    EXPECT_FALSE(c.complete);
    EXPECT_EQ(c.outcome, result::Outcome::kOk);
  }
}

TEST_F(Coordinated, ACaseWithoutARepetitionSaysThatItWasInterrupted) {
  FakeExecutor fake([&](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind == PassKind::kTimed) interrupt_ = true;
    return std::nullopt;
  });
  const auto done = run(two_cases(3), fake);
  for (const auto& c : done.cases) {
    EXPECT_EQ(c.outcome, result::Outcome::kSkipped);
    EXPECT_EQ(c.reason_code, "interrupted");
  }
}

class Resumed : public Coordinated {
 protected:
  // Two cases of three repetitions, interrupted in the second repetition.
  void interrupted_run() {
    FakeExecutor fake([&](const process::WorkerRequest& r) -> std::optional<Played> {
      if (r.spec.kind == PassKind::kTimed && r.spec.repetition == 1) interrupt_ = true;
      return std::nullopt;
    });
    run(two_cases(3), fake);
    interrupt_ = false;
  }
};

TEST_F(Resumed, RunsWhatIsMissingAndNothingElse) {
  interrupted_run();
  FakeExecutor fake;
  const auto done = run(two_cases(3), fake, {}, /*resume=*/true);
  EXPECT_EQ(count_of(fake, " check "), 0);
  EXPECT_EQ(count_of(fake, " timed 0"), 0);
  EXPECT_EQ(fake.order(true).size(), 4U);
  EXPECT_EQ(notes_.timed.back().number, 4U);
  EXPECT_EQ(notes_.timed.back().of, 4U);
  EXPECT_EQ(done.outcome, "ok");
  EXPECT_EQ(done.resumed_utc.size(), 1U);
  for (const auto& c : done.cases) {
    EXPECT_TRUE(c.complete);
    EXPECT_EQ(c.repetitions.size(), 3U);
  }
}

TEST_F(Resumed, AFinishedRunAsksForNoPass) {
  FakeExecutor first, second;
  const auto before = run(two_cases(2), first);
  const auto after = run(two_cases(2), second, {}, true);
  EXPECT_EQ(second.order(/*timed_only=*/true).size(), 0U);
  for (std::size_t i = 0; i < before.cases.size(); ++i)
    EXPECT_EQ(result::to_json(before.cases[i])["headline"], result::to_json(after.cases[i])["headline"]);
}

TEST_F(Resumed, RecordsThatWereChangedAreNamedPutAsideAndMeasuredAgain) {
  interrupted_run();
  const auto file = folder() / "cases" / kB1 / "passes" / "timed-0.jsonl";
  auto text = read_file(file);
  text.replace(text.find("1000000"), 7, "2000000");
  write_file_atomic(file, text);
  FakeExecutor fake;
  const auto done = run(two_cases(3), fake, {}, true);
  EXPECT_EQ(count_of(fake, std::string(kB1) + " timed 0"), 1);
  EXPECT_EQ(count_of(fake, std::string(kB2) + " timed 0"), 0);
  ASSERT_FALSE(notes_.warnings.empty());
  EXPECT_NE(notes_.warnings.front().find("changed after it was written"), std::string::npos);
  EXPECT_TRUE(fs::exists(file.string() + ".1"));
  EXPECT_TRUE(case_named(done, kB1).complete);
}

TEST_F(Resumed, ACaseThatOnlyNamesIsMeasuredAgainAndItsRecordsAreKept) {
  FakeExecutor first, second;
  run(two_cases(2), first);
  const auto done = run(two_cases(2), second, {kB1}, true);
  EXPECT_EQ(count_of(second, std::string(kB1) + " check"), 1);
  EXPECT_EQ(count_of(second, std::string(kB1) + " timed"), 2);
  EXPECT_EQ(count_of(second, kB2), 0);
  EXPECT_TRUE(fs::exists(folder() / "cases" / kB1 / "passes.1" / "timed-0.jsonl"));
  EXPECT_EQ(case_named(done, kB2).repetitions.size(), 2U);
}

TEST_F(Resumed, AFailedCaseIsNotTriedAgainUnlessItIsNamed) {
  const auto crashing = [](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.case_id == kB1 && r.spec.kind == PassKind::kTimed && r.spec.repetition == 0)
      return fails("crash");
    return std::nullopt;
  };
  FakeExecutor first(crashing), second;
  run(two_cases(2), first);
  const auto done = run(two_cases(2), second, {kB1}, true);
  EXPECT_EQ(count_of(second, std::string(kB1) + " timed"), 2);
  EXPECT_TRUE(case_named(done, kB1).complete);
}

constexpr const char* kTraining =
    "kind: training\nmodel: tiny_cnn\nranks: 2\nbatch: 8\nbenchmark: {measure_steps: 10}\nrepetitions: "
    "2\nidle_wait_s: 0\n";

TEST_F(Coordinated, TrainingNeedsNoCheckAndIsTimedByItsRanks) {
  FakeExecutor fake;
  const auto done = run(kTraining, fake);
  EXPECT_EQ(fake.order(), (std::vector<std::string>{done.cases[0].case_id + " train 0",
                                                    done.cases[0].case_id + " train 1"}));
  ASSERT_TRUE(done.cases[0].complete) << done.cases[0].reason;
  EXPECT_NEAR(*done.cases[0].headline.p50_ns.value, 10e6, 1);
  EXPECT_EQ(std::get<result::Training>(done.cases[0].payload).ranks.size(), 2U);
  EXPECT_TRUE(fs::exists(folder() / "rank1.jsonl"));
}

TEST_F(Coordinated, TablesOfRanksThatDoNotFitEndTheCase) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> std::optional<Played> {
    auto tables = testing::equal_steps(r.spec);
    tables[1].rows.erase(tables[1].rows.begin() + 3);
    return testing::plays_tables(r.spec, tables);
  });
  const auto done = run(kTraining, fake);
  EXPECT_EQ(done.cases[0].outcome, result::Outcome::kFailed);
  EXPECT_EQ(done.cases[0].reason_code, "data");
  EXPECT_NE(done.cases[0].reason.find("rank 1 lacks step 3;"), std::string::npos) << done.cases[0].reason;
}

}  // namespace
}  // namespace paceline::run
