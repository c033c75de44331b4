// SPDX-License-Identifier: MIT
// Which step files of a folder are of one job, which of their steps count, and what a part of them can tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/traces/attached_study.h"
#include "analysis/traces/trace_study.h"
#include "base/error.h"
#include "support/made_attached_job.h"

namespace paceline::analysis::traces {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::MadeAttachedJob;
using ::testing::Not;

// Ranks of jobs, begun this number of seconds after the first.
struct Started {
  std::vector<MadeAttachedJob> jobs;
  bool running = false;
  std::vector<RankTrace> ranks(std::vector<std::string>& left_out) const {
    std::vector<attach::StepFile> files;
    const auto folder = ScratchFolder::below_temp("attached");
    for (std::size_t j = 0; j < jobs.size(); ++j)
      for (const auto& made : jobs[j].files) {
        const auto name = "rank" + std::to_string(made.header.rank) + "." + std::to_string(j) + ".steps";
        made.save(folder.path() / name);
        files.push_back(attach::read_step_file(folder.path() / name, name));
        files.back().running = running;
      }
    return attached_ranks(files, left_out);
  }
  void add(std::size_t ranks, int steps, std::int64_t after_s, bool known = true) {
    auto& job = jobs.emplace_back(ranks);
    job.plain_steps(steps);
    for (auto& file : job.files) {
      file.header.realtime_ns += after_s * 1'000'000'000;
      file.header.rank_known = known ? 1 : 0;
    }
  }
};

TEST(Attached, OfARankThatWasStartedAgainTheNewestStartCounts) {
  Started started;
  started.add(2, 100, 0);
  started.add(2, 20, 60);
  std::vector<std::string> left_out;
  const auto ranks = started.ranks(left_out);
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[1].file, "rank1.1.steps");
  EXPECT_THAT(left_out, Contains(HasSubstr("rank 1 was started again, and rank1.1.steps")));
}

TEST(Attached, RanksThatAnElasticJobLostAreOfAnEarlierStart) {
  Started started;
  started.add(4, 20, 0);
  started.add(2, 30, 60);
  std::vector<std::string> left_out;
  const auto ranks = started.ranks(left_out);
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].file, "rank0.1.steps");
  EXPECT_EQ(study_of(ranks).world, 2);
  EXPECT_THAT(left_out,
              Contains("rank3.0.steps: it is of another start, with 4 ranks; the figures are of one with 2"));
}

TEST(Attached, AStartThatEndedAtOnceHidesNoneBeforeIt) {
  Started started;
  started.add(2, 50, 0);
  started.add(2, 1, 60);
  std::vector<std::string> left_out;
  const auto ranks = started.ranks(left_out);
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[1].file, "rank1.0.steps");
  EXPECT_THAT(left_out, Contains("rank1.1.steps: it is of a start that made too few steps; rank1.0.steps is "
                                 "of the one before"));
}

TEST(Attached, FilesOfOneRankAndTheSameTimeAreNoRestart) {
  Started started;
  started.add(2, 100, 0);
  started.add(2, 20, 2);  // the first job lasts 3.7 s
  std::vector<std::string> left_out;
  try {
    (void)started.ranks(left_out);
    ADD_FAILURE() << "they were taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_THAT(error.what(), HasSubstr("rank0.0.steps and rank0.1.steps are both of rank 0 and of the same "
                                        "time"));
  }
}

TEST(Attached, ProcessesWhoseRankNobodySaidAreNoStartsOfRank0) {
  for (const std::int64_t after_s : {1, 60}) {
    Started started;
    started.add(1, 100, 0, false);
    started.add(1, 20, after_s, false);
    std::vector<std::string> left_out;
    auto ranks = started.ranks(left_out);
    ASSERT_EQ(ranks.size(), 1U);
    EXPECT_EQ(ranks[0].file, "rank0.0.steps");
    EXPECT_THAT(left_out, Contains(HasSubstr("rank0.1.steps: it is of a process without a known rank")));
    EXPECT_THAT(left_out, Not(Contains(HasSubstr("started again"))));
    EXPECT_THAT(study_of(std::move(ranks)).untold, Contains(HasSubstr("which rank rank0.0.steps is of")));
  }
}

TEST(Attached, AProcessWithoutARankStandsForNoRankOfTheJob) {
  Started started;
  started.add(2, 20, 0);
  started.add(1, 100, 60, false);
  std::vector<std::string> left_out;
  const auto ranks = started.ranks(left_out);
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].file, "rank0.0.steps");
  EXPECT_THAT(left_out, Contains(HasSubstr("rank0.1.steps: it is of a process without a known rank")));
}

// Steps behind a gap are in no figure: here each of them has an exchange more.
TEST(Attached, CommunicationIsOfTheStepsOfTheFigures) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 30; ++i) {
    if (i == 12)
      for (std::size_t r = 0; r < 2; ++r) job.idle(r, 500);
    if (i == 1 || i == 13) job.together(4);
    job.plain_step();
  }
  const auto study = job.study();
  EXPECT_EQ(study.steps, 26);  // 30 less the first, the pause, and the step behind each
  ASSERT_EQ(study.exchanges.size(), 1U);
  EXPECT_NEAR(study.exchanges[0].calls, 1, 1e-9);
  EXPECT_NEAR(study.exchanges[0].exposed_ns, 2e6, 1);
  EXPECT_NEAR(study.exchanges[0].exposed_ns, *study.ranks[0].exposed_ns, 1);
}

// Every eleventh step is of another accumulation, and half of these are as much shorter as the others are
// longer than a steady step.
TEST(Attached, ExtraTimeOfUnsteadyStepsDoesNotGrowWithNoise) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 111; ++i) {
    const bool uneven = i % 11 == 10;
    for (std::size_t r = 0; r < 2; ++r) {
      job.load(r, 2), job.forward(r, 10);
      if (uneven) job.backward(r, 3), job.backward(r, 3), job.backward(r, i % 2 == 0 ? 24 : 4);
      if (!uneven) job.backward(r, 10), job.backward(r, 10);
    }
    job.together(2);
    for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3);
  }
  const auto study = job.study();
  const auto uneven = std::ranges::find(study.attached->other, StepSort::kUneven, &OtherTime::sort);
  ASSERT_NE(uneven, study.attached->other.end());
  EXPECT_EQ(uneven->steps, 10);
  EXPECT_NEAR(uneven->extra_ns, 0, 1);
  EXPECT_GE(uneven->extra_ns, 0);
}

// Rank 0 was ended before its last exchange was complete.
TEST(Attached, ALastStepThatTheEndOfTheJobCutIsLeftOut) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 20; ++i) {
    for (std::size_t r = 0; r < 2; ++r) job.load(r, 2), job.backward(r, 20);
    job.together(2), job.together(1);
    for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3);
  }
  auto& records = job.files[0].records;
  const auto last = std::find_if(records.rbegin(), records.rend(), [](const attach::StepRecord& record) {
    return record.kind == static_cast<std::uint8_t>(attach::StepKind::kCommunication);
  });
  records.erase(std::next(last).base());
  const auto study = job.study();
  EXPECT_EQ(study.last_step, 18);
  EXPECT_THAT(study.left_out,
              Contains(HasSubstr("step 19: the job ended in it, and the ranks have 1 and 2")));
  EXPECT_THAT(study.untold, Not(Contains(HasSubstr("count as one"))));
}

// Rank 1 is a step ahead: that is no loss while they run.
TEST(Attached, ARankThatStillRunsSaysHowManyStepsItHas) {
  Started started{.jobs = {}, .running = true};
  started.add(2, 120, 0);
  auto& records = started.jobs[0].files[0].records;
  records.resize(records.size() - 6);
  std::vector<std::string> left_out;
  const auto study = study_of(started.ranks(left_out));
  EXPECT_THAT(study.attached->notes, Contains("rank 0 is still running: 119 steps so far"));
  EXPECT_THAT(study.attached->notes, Contains("rank 1 is still running: 120 steps so far"));
  EXPECT_THAT(study.left_out, Not(Contains(HasSubstr("only some ranks have"))));
  started.running = false;
  EXPECT_THAT(study_of(started.ranks(left_out)).left_out, Contains(HasSubstr("only some ranks have")));
}

}  // namespace
}  // namespace paceline::analysis::traces
