// SPDX-License-Identifier: MIT
#include "run/training/training_profiles.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "run/training/train_factory.h"
#include "unit/run/training_cases.h"

namespace paceline::run {
namespace {
namespace fs = std::filesystem;

config::Case tiny_case(const std::string& lines) {
  return training_case("model: tiny_cnn\n" + lines);
}

// A case whose folder goes with the test.
struct Profiled {
  explicit Profiled(const std::string& name) {
    run.definition = tiny_case("profiling: {enabled: true}\n");
    run.dir = fs::path(::testing::TempDir()) / name;
    fs::remove_all(run.dir);
    make_directories(run.dir);
  }
  ~Profiled() { fs::remove_all(run.dir); }
  const result::OperatorProfile& profile() { return run.result.operator_profile.value(); }
  CaseRun run;
};

process::WorkerOutcome two_steps(const std::string& no_trace = "") {
  process::WorkerOutcome outcome;
  outcome.ok = true;
  auto& steps = outcome.report.fill<result::ProfiledSteps>();
  steps.step_ns = {10, 10};
  steps.operators = {{"conv", 2, 15.0, 15.0, {}}};
  steps.no_trace = no_trace;
  return outcome;
}

TEST(TrainingProfiles, ThePassLeavesOutWhatCostsOrLeavesTraces) {
  const auto c = tiny_case(
      "ranks: 2\ncheckpoint: {dir: ck, every_steps: 2, resume: true}\ninject: kill:rank=1,step=1\n"
      "training: {epochs: 2, drift_check_every: 3}\nprofiling: {enabled: true, steps: 5}\n");
  auto base = train_pass(c, {});
  base.repetition = 4;
  const auto pass = train_profile_pass(c, base, "/tmp/trace.json");
  EXPECT_EQ(pass.kind, pass::PassKind::kTrainProfile);
  EXPECT_EQ(pass.world_size, 2);
  EXPECT_EQ(pass.repetition, 0);
  const auto& train = std::get<pass::TrainSpec>(pass.task);
  EXPECT_TRUE(train.checkpoint.dir.empty());
  EXPECT_FALSE(train.checkpoint.resume);
  EXPECT_TRUE(train.inject.empty());
  EXPECT_EQ(train.epochs, 0);
  EXPECT_EQ(train.drift_check_every, 0);
  EXPECT_EQ(train.profile.steps, 5);
  EXPECT_EQ(train.profile.trace_file, "/tmp/trace.json");
  EXPECT_EQ(train.settings.seed, std::get<pass::TrainSpec>(base.task).settings.seed);
}

TEST(TrainingProfiles, OtherToolsAndTriggersAreExplained) {
  EXPECT_FALSE(asks_profile(tiny_case("")));
  EXPECT_TRUE(asks_profile(tiny_case("profiling: {enabled: true}\n")));
  const auto reason = [](const std::string& more) {
    return no_profile_reason(tiny_case("profiling: {enabled: true" + more + "}\n"));
  };
  EXPECT_EQ(reason(""), "");
  EXPECT_NE(reason(", tool: nsys").find("paceline profile --tool nsys -c PLAN.yaml"), std::string::npos);
  EXPECT_NE(reason(", tool: ncu").find("paceline profile --tool ncu -c PLAN.yaml"), std::string::npos);
  EXPECT_NE(reason(", trigger: manual").find("by 'manual'; leave profiling.trigger out"), std::string::npos);
}

TEST(TrainingProfiles, TableAndTraceBecomeFilesOfTheCase) {
  Profiled one("paceline_profiled");
  const auto trace = one.run.dir / "elsewhere.json";
  write_file_atomic(trace, "{}");
  apply_operator_profile(one.run, two_steps(), trace);
  EXPECT_EQ(one.profile().trace, "trace_rank0.json");
  EXPECT_EQ(*one.profile().trace_bytes, 2);
  EXPECT_EQ(one.profile().reason, "");
  EXPECT_FALSE(fs::exists(trace));
  EXPECT_EQ(read_file(one.run.dir / "trace_rank0.json"), "{}");
  EXPECT_NE(read_file(one.run.dir / "operators.csv").find("0,conv,2,15,15,0.75"), std::string::npos);
}

TEST(TrainingProfiles, AMissingTraceCostsTheTraceOnly) {
  Profiled one("paceline_no_trace");
  apply_operator_profile(one.run, two_steps("no trace: built without Kineto"), one.run.dir / "none.json");
  EXPECT_TRUE(one.profile().steps);
  EXPECT_TRUE(one.profile().trace.empty());
  EXPECT_EQ(one.profile().reason, "no trace: built without Kineto");
  apply_operator_profile(one.run, two_steps(), one.run.dir / "none.json");
  EXPECT_NE(one.profile().reason.find("cannot be moved"), std::string::npos);
  EXPECT_FALSE(one.profile().trace_bytes);
}

TEST(TrainingProfiles, AFailureCostsTheProfileOnly) {
  Profiled one("paceline_failed_profile");
  process::WorkerOutcome failed;
  failed.reason = "rank 1 on here: crashed";
  apply_operator_profile(one.run, failed, one.run.dir / "none.json");
  EXPECT_FALSE(one.profile().steps);
  EXPECT_EQ(one.profile().reason, "rank 1 on here: crashed");
  EXPECT_EQ(one.run.result.outcome, result::Outcome::kOk);
  failed.ok = true;
  apply_operator_profile(one.run, failed, {});
  EXPECT_NE(one.profile().reason, "");
}

}  // namespace
}  // namespace paceline::run
