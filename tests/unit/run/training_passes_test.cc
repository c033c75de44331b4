// SPDX-License-Identifier: MIT
// Training cases on ranks that are played: failures, restarts, interrupts, and what is kept of every rank.
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "result/stored/result_json.h"
#include "unit/run/coordinated.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;
using pass::PassKind;
using testing::equal_steps;
using testing::fails;
using testing::FakeExecutor;
using testing::Played;
using testing::plays_steps;
using testing::plays_tables;
using MaybePlayed = std::optional<Played>;

// Batches of 8 and of 16, on two ranks each.
std::string training_plan(const std::string& lines = "", const std::string& batches = "[8, 16]") {
  return "kind: training\nmodel: tiny_cnn\nranks: 2\nbatch_sizes: " + batches +
         "\nthreads: 1\nrepetitions: 2\nidle_wait_s: 0\n" + lines;
}
constexpr const char* kB8 = "tiny_cnn-train-fp32-b8-r2";
constexpr const char* kB16 = "tiny_cnn-train-fp32-b16-r2";

// Plays ranks that were asked to end: the steps until then.
Played plays_interrupted(const pass::PassSpec& spec, std::optional<process::Verdict> verdict = {}) {
  auto played = plays_steps(spec, 5);
  played.records.push_back(pass::interrupted_record(/*asked=*/false));
  played.verdict = std::move(verdict);
  return played;
}

std::vector<nlohmann::json> lines_of(const fs::path& file) {
  std::istringstream text(read_file(file));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

class TrainingPasses : public Coordinated {
 protected:
  [[nodiscard]] std::string checkpoints(int max_restarts, const std::string& more = "") const {
    return "max_restarts: " + std::to_string(max_restarts) +
           "\ncheckpoint: {dir: " + (scratch_.path() / "saved").string() + more + "}\n";
  }
};

TEST_F(TrainingPasses, TheWayRanksFailIsTheReasonOfTheirCaseAlone) {
  for (const auto* code : {"exit", "killed", "crash", "hung", "timeout", "error", "oom", "protocol"}) {
    const ScratchFolder elsewhere = ScratchFolder::below_temp("paceline-ways");
    FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
      if (r.spec.case_id == kB8 && r.spec.repetition == 1) return fails(code, "rank 1 on here: gone");
      return std::nullopt;
    });
    result::RunDirectory directory(elsewhere.path() / "run", result::CaseFiles::kInFolders);
    const auto done = run_plan(setup_of(training_plan()), directory, notes_, interrupt_, fake);
    const auto& bad = case_named(done, kB8);
    EXPECT_EQ(bad.outcome, result::Outcome::kFailed) << code;
    EXPECT_EQ(bad.reason_code, code);
    EXPECT_EQ(bad.reason, "rank 1 on here: gone");
    EXPECT_EQ(bad.repetitions.size(), 1U) << code;
    EXPECT_EQ(count_of(fake, kB8), 2) << code;  // without checkpoints nothing is started again
    EXPECT_TRUE(case_named(done, kB16).complete) << code;
  }
}

TEST_F(TrainingPasses, AllRanksOfAPassAreStartedHere) {
  FakeExecutor fake;
  run(training_plan("timeout_s: 77\nenv: {COLOUR: blue}\n", "[8]"), fake);
  ASSERT_EQ(fake.requests.size(), 2U);
  for (const auto& r : fake.requests) {
    EXPECT_EQ(r.share.first, 0);
    EXPECT_EQ(r.share.count, 0);
    EXPECT_EQ(r.spec.world_size, 2);
    EXPECT_EQ(r.spec.ranks.rendezvous.port, 0);  // a store of their own
    EXPECT_EQ(r.timeout_s, 77);
    EXPECT_EQ(r.env.at("COLOUR"), "blue");
  }
}

// Ranks are killed before step 3, hang, and go well.
MaybePlayed killed_then_hung(const process::WorkerRequest& r, int start) {
  if (start > 1) return plays_steps(r.spec);
  auto played =
      start == 0 ? fails("killed", "rank 1 on here: killed by SIGKILL") : fails("hung", "no answer");
  played.fault_ns = start == 0 ? 1'000'000 : 0, played.noticed_ns = 3'000'000;
  return played;
}

TEST_F(TrainingPasses, RestartsGoOnFromTheCheckpointAndOutliveResume) {
  const auto plan = training_plan(checkpoints(3) + "inject: kill:rank=1,step=3\n", "[8]");
  int starts = 0;
  FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
    return r.spec.repetition == 0 ? killed_then_hung(r, starts++) : std::nullopt;
  });
  const auto done = run(plan, fake).cases.at(0);
  ASSERT_TRUE(done.complete) << done.reason;
  ASSERT_EQ(fake.requests.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& train = std::get<pass::TrainSpec>(fake.requests[i].spec.task);
    EXPECT_EQ(train.checkpoint.resume, i > 0) << i;
    EXPECT_EQ(train.inject, i > 0 ? "" : "kill:rank=1,step=3") << i;
    EXPECT_EQ(train.checkpoint.dir, std::get<pass::TrainSpec>(fake.requests[0].spec.task).checkpoint.dir);
    EXPECT_EQ(fake.requests[i].record_file, fake.requests[0].record_file);
  }
  EXPECT_FALSE(std::get<pass::TrainSpec>(fake.requests.at(3).spec.task)
                   .checkpoint.resume);  // the next repetition trains anew
  EXPECT_EQ(notes_.notices, (std::vector<std::string>{
                                "restart 1 of 3 from the last checkpoint: rank 1 on here: killed by SIGKILL",
                                "restart 2 of 3 from the last checkpoint: no answer"}));
  const auto restarts = std::get<result::Training>(done.repetitions.at(0).payload).restarts;
  ASSERT_EQ(restarts.size(), 2U);
  EXPECT_DOUBLE_EQ(*restarts[0].detect_ns, 2e6);
  EXPECT_FALSE(restarts[0].first_step_ns) << "the ranks failed again";
  EXPECT_DOUBLE_EQ(*restarts[1].first_step_ns, 10e6 - 3e6);
  EXPECT_TRUE(std::get<result::Training>(done.repetitions.at(1).payload).restarts.empty());

  FakeExecutor none;
  const auto again = run(plan, none, {}, /*resume=*/true).cases.at(0);
  EXPECT_TRUE(none.requests.empty());
  EXPECT_EQ(result::to_json(again).at("training"), result::to_json(done).at("training"));
}

TEST_F(TrainingPasses, RestartsThatAreUsedUpEndTheCase) {
  int starts = 0;
  FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
    if (r.spec.case_id == kB8) return fails("timeout", "no result, start " + std::to_string(++starts));
    return std::nullopt;
  });
  const auto done = run(training_plan(checkpoints(2)), fake);
  EXPECT_EQ(count_of(fake, kB8), 3);
  EXPECT_EQ(case_named(done, kB8).reason_code, "timeout");
  EXPECT_EQ(case_named(done, kB8).reason, "no result, start 3");
  EXPECT_TRUE(case_named(done, kB16).complete);
}

TEST_F(TrainingPasses, AnInterruptOfARestartKeepsWhatIsFinishedAndEndsTheRun) {
  int starts = 0;
  FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
    if (r.spec.repetition == 0) return std::nullopt;
    if (++starts == 1) return fails("crash");
    interrupt_ = true;
    return Played{};
  });
  const auto done = run(training_plan(checkpoints(5), "[8]"), fake);
  EXPECT_EQ(fake.requests.size(), 3U);
  EXPECT_EQ(done.outcome, "interrupted");
  EXPECT_EQ(done.cases[0].outcome, result::Outcome::kOk);
  EXPECT_EQ(done.cases[0].repetitions.size(), 1U);
}

TEST_F(TrainingPasses, StepsOfAnInterruptedRepetitionAreKeptUntilItIsMeasuredAgain) {
  FakeExecutor interrupted([&](const process::WorkerRequest& r) -> MaybePlayed {
    if (r.spec.repetition == 0) return std::nullopt;
    interrupt_ = true;
    return plays_interrupted(r.spec);
  });
  const auto before = run(training_plan("", "[8]"), interrupted);
  EXPECT_EQ(before.cases[0].repetitions.size(), 1U);
  EXPECT_EQ(notes_.notices.at(0),
            "interrupted: its steps up to 4, of which 4 are timed (median 10.0 ms, from 10.0 ms "
            "to 10.0 ms on rank 0), are in rank<k>.jsonl and "
            "in no statistic");
  for (const auto* file : {"rank0.jsonl", "rank1.jsonl"}) {
    const auto rows = lines_of(folder() / file);
    ASSERT_EQ(rows.size(), 11U + 5U) << file;
    EXPECT_FALSE(rows[10].contains("interrupted"));
    EXPECT_TRUE(rows[11].at("interrupted"));
  }
  interrupt_ = false;
  FakeExecutor fake;
  const auto after = run(training_plan("", "[8]"), fake, {}, /*resume=*/true);
  EXPECT_EQ(fake.order().size(), 1U);
  EXPECT_EQ(after.cases[0].repetitions.size(), 2U);
  const auto rows = lines_of(folder() / "rank1.jsonl");
  EXPECT_EQ(rows.size(), 22U);
  for (const auto& row : rows) EXPECT_FALSE(row.contains("interrupted"));
}

// Ranks that were asked to end in the third epoch of ten steps each.
Played plays_two_epochs(const pass::PassSpec& spec) {
  auto tables = equal_steps(spec, 25);
  for (auto& table : tables)
    for (auto& row : table.rows) row.epoch = row.step / 10;
  auto played = plays_tables(spec, tables);
  played.records.push_back(pass::interrupted_record(/*asked=*/true));
  return played;
}

TEST_F(TrainingPasses, FinishedEpochsOfAnInterruptedRepetitionAreKept) {
  for (const char* more : {"", "benchmark: {log_step_times: false}\n"}) {
    FakeExecutor interrupted([&](const process::WorkerRequest& r) -> MaybePlayed {
      if (r.spec.repetition == 0) return std::nullopt;
      interrupt_ = true;
      return plays_two_epochs(r.spec);
    });
    const ScratchFolder elsewhere = ScratchFolder::below_temp("paceline-epochs");
    result::RunDirectory directory(elsewhere.path() / "run", result::CaseFiles::kInFolders);
    const auto done =
        run_plan(setup_of(training_plan(more, "[8]")), directory, notes_, interrupt_, interrupted);
    interrupt_ = false;
    const auto file = directory.case_dir(done.cases.at(0).case_id) / "metrics_epoch";
    const auto rows = lines_of(file.string() + ".jsonl");
    ASSERT_EQ(rows.size(), 1U + 2U) << more;
    EXPECT_EQ(rows[2].at("repetition"), 1);
    EXPECT_EQ(rows[2].at("epoch"), 1);
    EXPECT_EQ(rows[2].at("steps"), 10);
    EXPECT_EQ(rows[2].at("samples"), 160);
    const auto table = split(read_file(file.string() + ".csv"), '\n');
    ASSERT_EQ(table.size(), 1U + 3U + 1U) << "names, rows, and the end of the last line";
    EXPECT_TRUE(table[3].starts_with("1,1,10,160,0.1,")) << table[3];
    EXPECT_NE(notes_.notices.back().find("; 2 finished epochs in metrics_epoch.csv"), std::string::npos);
  }
}

TEST_F(TrainingPasses, ACaseWithoutARepetitionSaysWhatWasKeptOfIt) {
  FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
    interrupt_ = true;
    return plays_interrupted(r.spec);
  });
  const auto only = run(training_plan("", "[8]"), fake).cases.at(0);
  EXPECT_EQ(only.outcome, result::Outcome::kSkipped);
  EXPECT_EQ(only.reason_code, "interrupted");
  EXPECT_NE(only.reason.find("; its steps up to 4, "), std::string::npos) << only.reason;
}

TEST_F(TrainingPasses, RanksThatSomebodyElseEndedFailTheCaseAndLeaveTheirSteps) {
  FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
    return plays_interrupted(r.spec, process::Verdict{"killed", "rank 1 on here: asked to end"});
  });
  const auto only = run(training_plan("", "[8]"), fake).cases.at(0);
  EXPECT_EQ(only.outcome, result::Outcome::kFailed);
  EXPECT_EQ(only.reason_code, "killed");
  EXPECT_EQ(only.reason.find("rank 1 on here: asked to end; its steps up to 4, "), 0U) << only.reason;
  EXPECT_EQ(lines_of(folder() / "rank0.jsonl").size(), 5U);
}

TEST_F(TrainingPasses, StepsAreNotKeptWhereNoneAreAskedFor) {
  FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
    interrupt_ = r.spec.repetition == 1;
    return interrupt_ ? plays_interrupted(r.spec) : plays_steps(r.spec);
  });
  run(training_plan("benchmark: {log_step_times: false}\n", "[8]"), fake);
  EXPECT_FALSE(fs::exists(folder() / "rank0.jsonl"));
  EXPECT_EQ(notes_.notices.at(0), "interrupted: its steps are not kept (benchmark.log_step_times: false)");
}

TEST_F(TrainingPasses, AStepTakesAsLongAsItsSlowestRank) {
  FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
    auto tables = equal_steps(r.spec);
    for (std::size_t i = 4; i < tables[1].rows.size(); ++i) tables[1].rows[i].step_ns = 30'000'000;
    return plays_tables(r.spec, tables);
  });
  const auto only = run(training_plan("", "[8]"), fake).cases.at(0);
  ASSERT_TRUE(only.complete) << only.reason;
  EXPECT_DOUBLE_EQ(*only.headline.p50_ns.value, 30e6);
  const auto& ranks = std::get<result::Training>(only.payload).ranks;
  EXPECT_EQ(ranks.at(1).slowest_steps, 7);
  EXPECT_EQ(lines_of(folder() / "rank0.jsonl").at(4).at("step_ns"), 10'000'000);
  EXPECT_EQ(lines_of(folder() / "rank1.jsonl").at(4).at("step_ns"), 30'000'000);
}

// Who decides follows from the parts of the steps.
TEST_F(TrainingPasses, WhereTheDeviceDecidesTheHostsNoiseDoesNotCount) {
  const auto grade_where = [&](const char* clock) {
    FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
      auto tables = equal_steps(r.spec);
      for (auto& table : tables)
        for (auto& row : table.rows) row.ns[result::StepPart::kBackward] = row.step_ns;
      result::Repetition repetition;
      repetition.index = r.spec.repetition;
      repetition.payload.emplace<result::Training>();
      repetition.noise.foreign_cpu_frac = 0.5;
      return Played{{pass::loaded_record({}, {{"step_times", clock}}), pass::repetition_record(repetition),
                     testing::steps_record(r.spec, tables)},
                    {}};
    });
    return run("kind: training\nmodel: tiny_cnn\nranks: 2\nbatch_sizes: [8]\nthreads: 1\nrepetitions: "
               "1\nidle_wait_s: 0\n",
               fake)
        .cases.at(0)
        .grade;
  };
  EXPECT_EQ(grade_where("the host's clock"), result::Grade::kC);
  EXPECT_EQ(grade_where("marks on the device's own clock"), result::Grade::kA);
}

TEST_F(TrainingPasses, StepFilesAreWhatResumeReads) {
  FakeExecutor fake;
  const auto plan = training_plan("", "[8]");
  const auto done = run(plan, fake).cases.at(0);
  const auto file = folder() / "passes" / "timed-1.steps.bin";
  ASSERT_TRUE(fs::exists(file));
  FakeExecutor none;
  const auto again = run(plan, none, {}, /*resume=*/true).cases.at(0);
  EXPECT_TRUE(none.requests.empty());
  EXPECT_EQ(result::to_json(again).at("training"), result::to_json(done).at("training"));

  fs::resize_file(file, fs::file_size(file) - 100);
  FakeExecutor anew;
  EXPECT_TRUE(run(plan, anew, {}, /*resume=*/true).cases.at(0).complete);
  EXPECT_EQ(anew.order(), std::vector<std::string>{done.case_id + " train 1"});
  ASSERT_FALSE(notes_.warnings.empty());
  EXPECT_NE(notes_.warnings.back().find("timed-1.steps.bin' is cut short"), std::string::npos);
  EXPECT_TRUE(fs::exists(file.string() + ".1"));
}

TEST_F(TrainingPasses, VeryManyStepsStayInTheirFile) {
  FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
    if (r.spec.repetition == 0) return plays_steps(r.spec, 50'001);
    interrupt_ = true;
    auto played = plays_steps(r.spec, 60'000);
    played.records.push_back(pass::interrupted_record(/*asked=*/false));
    return played;
  });
  const auto only = run(training_plan("", "[8]"), fake).cases.at(0);
  EXPECT_FALSE(fs::exists(folder() / "rank0.jsonl"));
  ASSERT_FALSE(std::get<result::Training>(only.payload).notes.empty());
  EXPECT_NE(only.training()->notes[0].find("passes/timed-<repetition>.steps.bin"), std::string::npos);
  EXPECT_NE(notes_.notices.at(0).find("are in passes/interrupted-timed-1.steps.bin"), std::string::npos);
  const auto kept = result::read_step_file(folder() / "passes" / "interrupted-timed-1.steps.bin");
  EXPECT_EQ(kept.ranks.at(1).rows.size(), 60'000U);
}

TEST_F(TrainingPasses, ARankWithoutStepsFailsTheCaseByName) {
  FakeExecutor fake([&](const process::WorkerRequest& r) -> MaybePlayed {
    auto tables = equal_steps(r.spec);
    tables.pop_back();
    return plays_tables(r.spec, tables);
  });
  const auto only = run(training_plan("", "[8]"), fake).cases.at(0);
  EXPECT_EQ(only.outcome, result::Outcome::kFailed);
  EXPECT_EQ(only.reason_code, "data");
  EXPECT_NE(only.reason.find("rank 1 sent no steps"), std::string::npos) << only.reason;
}

TEST_F(TrainingPasses, AProfileThatFailsIsNotRestartedAndCostsItselfAlone) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> MaybePlayed {
    if (r.spec.kind == PassKind::kTrainProfile) return fails("crash", "the profiler died");
    return std::nullopt;
  });
  const auto only =
      run(training_plan(checkpoints(3) + "profiling: {enabled: true}\n", "[8]"), fake).cases.at(0);
  EXPECT_EQ(count_of(fake, " train_profile "), 1);
  EXPECT_EQ(fake.order().back(), only.case_id + " train_profile 0");
  EXPECT_TRUE(only.complete);
  EXPECT_EQ(only.operator_profile.value().reason, "the profiler died");
}

TEST_F(TrainingPasses, TrainingThatIsDoneKeepsItsEarlierResult) {
  const auto plan = training_plan(checkpoints(0, ", resume: true"), "[8]");
  FakeExecutor first, second([](const process::WorkerRequest&) -> MaybePlayed {
    return Played{{pass::trained_record("nothing is left to do")}, {}};
  });
  const auto before = run(plan, first);
  const auto after = run(plan, second, {kB8}, /*resume=*/true);
  EXPECT_EQ(second.order(), first.order());
  ASSERT_FALSE(notes_.warnings.empty());
  EXPECT_EQ(notes_.warnings.back(),
            "tiny_cnn train fp32 b8 r2: nothing is left to do; its earlier result is kept");
  EXPECT_TRUE(after.cases[0].complete);
  for (const auto* part : {"repetitions", "headline", "training"})
    EXPECT_EQ(result::to_json(after.cases[0])[part], result::to_json(before.cases[0])[part]) << part;
  EXPECT_FALSE(fs::exists(folder() / "passes.1"));
}

TEST_F(TrainingPasses, TrainingThatWasDoneBeforeHasNothingToMeasure) {
  FakeExecutor fake([](const process::WorkerRequest&) -> MaybePlayed {
    return Played{{pass::trained_record("40 steps are done")}, {}};
  });
  const auto only = run(training_plan(checkpoints(0, ", resume: true"), "[8]"), fake).cases.at(0);
  EXPECT_EQ(only.outcome, result::Outcome::kSkipped);
  EXPECT_EQ(only.reason_code, "trained");
  EXPECT_EQ(only.reason, "40 steps are done");
}

}  // namespace
}  // namespace paceline::run
