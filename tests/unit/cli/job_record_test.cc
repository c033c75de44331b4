// SPDX-License-Identifier: MIT
// An attached job as a run: its identity, its outcome, and what stands in it.
#include "cli/attach/job_record.h"

#include <gtest/gtest.h>

#include <csignal>

#include "analysis/verdict.h"
#include "history/entry.h"
#include "result/figures/summarize.h"
#include "support/made_attached_job.h"

namespace paceline::cli {
namespace {

using testing::MadeAttachedJob;

// Wait statuses as waitpid() has them.
constexpr int exited(int code) {
  constexpr int kCodeAt = 8;
  return code << kCodeAt;
}

MadeAttachedJob job_with_late_rank() {
  MadeAttachedJob job(2);
  for (int i = 0; i < 40; ++i)
    job.step([](std::size_t rank, int part) {
      return MadeAttachedJob::kUsual_ms[part] + (rank == 1 && part == 2 ? 14 : 0);
    });
  return job;
}

result::RunResult run_of(const std::vector<std::string>& command, const JobEnd& end = {},
                         const MadeAttachedJob& made = job_with_late_rank()) {
  return run_of_job({.folder = "steps",
                     .command = command,
                     .command_line = "paceline attach",
                     .started_utc = "2026-11-29T12:00:00Z",
                     .run_id = "20261129T120000Z-0001",
                     .end = end},
                    made.study(), {{"cpu", {{"model", "EPYC"}}}});
}

std::string key_of(const std::vector<std::string>& command) {
  return history::identity_key(run_of(command).cases.front().benchmark);
}

TEST(JobRecord, HasTheFiguresOfTheStudy) {
  const auto run = run_of({"torchrun", "--nproc-per-node", "2", "jobs/train.py", "--lr", "1"});
  ASSERT_EQ(run.cases.size(), 1U);
  const auto& one = run.cases.front();
  EXPECT_EQ(one.label, "train.py 2 ranks");
  EXPECT_EQ(one.benchmark.model, "train.py");
  EXPECT_EQ(one.benchmark.world_size, 2);
  EXPECT_NEAR(*one.headline.p50_ns.value, 51e6, 1);  // 37 + 14
  ASSERT_EQ(one.training()->late.size(), 1U);
  EXPECT_EQ(one.training()->late.front().rank, 1);
  EXPECT_EQ(run.environment["notes"][0], "rank 1 is late in backward, 14.0 ms per step");
  EXPECT_EQ(run.environment["cpu"]["model"], "EPYC");
  ASSERT_FALSE(run.findings.empty());
  EXPECT_NE(run.findings.front().text.find("train.py 2 ranks"), std::string::npos);
}

TEST(JobRecord, LaunchersAreNoPartOfTheIdentity) {
  const auto usual = key_of({"torchrun", "--nproc-per-node", "2", "train.py", "--lr", "1"});
  EXPECT_EQ(usual,
            key_of({"torchrun", "--master-port", "1234", "--nproc-per-node", "2", "train.py", "--lr", "1"}));
  EXPECT_NE(usual, key_of({"torchrun", "--nproc-per-node", "2", "train.py", "--lr", "2"}));
  EXPECT_NE(usual, key_of({"torchrun", "--nproc-per-node", "2", "other.py", "--lr", "1"}));
}

TEST(JobRecord, OutcomeIsThatOfTheJob) {
  const std::vector<std::string> command{"python3", "train.py"};
  EXPECT_EQ(run_of(command).outcome, "ok");
  EXPECT_EQ(run_of(command, {exited(3)}).outcome, "failed");
  EXPECT_EQ(run_of(command, {exited(3)}).exit_code, 3);
  EXPECT_EQ(run_of(command, {SIGTERM}).outcome, "interrupted");
  EXPECT_EQ(run_of(command, {exited(128 + SIGTERM)}).outcome, "interrupted") << "as shells hand it on";
  EXPECT_EQ(run_of(command, {exited(1), SIGINT}).outcome, "interrupted") << "as torchrun does";
  EXPECT_EQ(run_of(command, {exited(0), SIGTERM}).outcome, "ok") << "the job took it as it liked";
  EXPECT_EQ(run_of(command, {SIGKILL, SIGTERM}).outcome, "interrupted") << "as launchers end what stays";
  EXPECT_EQ(run_of(command, {SIGSEGV}).outcome, "failed");
  EXPECT_EQ(run_of(command, {SIGSEGV, SIGTERM}).outcome, "failed") << "a checkpoint on demand, a crash later";
  EXPECT_EQ(run_of(command, {SIGSEGV}).exit_code, 128 + SIGSEGV);
}

TEST(JobRecord, AFailedJobHasAFailedCase) {
  const auto run = run_of({"torchrun", "train.py"}, {exited(3)});
  const auto& one = run.cases.front();
  EXPECT_EQ(one.outcome, result::Outcome::kFailed);
  EXPECT_EQ(one.reason_code, "exit");
  EXPECT_EQ(one.reason, "it ended with exit code 3");
  EXPECT_FALSE(one.complete);
  EXPECT_EQ(run.findings.front().id, "failed_cases");
  EXPECT_EQ(run.findings.front().advice, "See its steps until then: paceline profile --from steps");
  EXPECT_EQ(run_of({"train.py"}, {SIGKILL}).cases.front().reason_code, "killed");
  EXPECT_EQ(run_of({"train.py"}, {SIGSEGV}).cases.front().reason_code, "crash");
}

TEST(JobRecord, AnInterruptedJobKeepsItsFiguresAndIsIncomplete) {
  const auto run = run_of({"torchrun", "train.py"}, {exited(1), SIGINT});
  const auto& one = run.cases.front();
  EXPECT_TRUE(result::is_cut_short(one));
  EXPECT_EQ(analysis::headline(run).front(),
            "The job was ended before it was done: its figures are of the steps until then.");
  const auto entry = history::entry_of({"steps", run});
  EXPECT_EQ(entry.cases.front().outcome, history::kCutShort);
  EXPECT_NE(history::headline_figure(entry.cases.front()), nullptr);
}

TEST(JobRecord, HealthyJobsHaveNoNote) {
  MadeAttachedJob healthy(2);
  healthy.plain_steps(40);
  EXPECT_FALSE(run_of({"train.py"}, {}, healthy).environment.contains("notes"));
}

}  // namespace
}  // namespace paceline::cli
