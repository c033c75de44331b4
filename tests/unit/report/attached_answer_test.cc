// SPDX-License-Identifier: MIT
// Answers about attached jobs, in words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "report/traces.h"
#include "support/made_attached_job.h"

namespace paceline::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two ranks, of which rank 1 loads for 30 ms longer.
testing::MadeAttachedJob late_job() {
  testing::MadeAttachedJob job(2);
  for (int i = 0; i < 20; ++i)
    job.step([](std::size_t rank, int part) {
      return testing::MadeAttachedJob::kUsual_ms[part] + (rank == 1 && part == 0 ? 30 : 0);
    });
  return job;
}

TEST(AttachedAnswer, OneRankOfSeveralHasItsWaitingInCommunication) {
  auto ranks = late_job().ranks();
  ranks.pop_back();
  const auto answer = answer_of(analysis::traces::study_of(std::move(ranks)));
  EXPECT_THAT(answer.sentence, HasSubstr("communication with waiting for the other ranks 47.8 % of a step"));
  EXPECT_THAT(answer.sentence, Not(HasSubstr("itself")));
  ASSERT_EQ(answer.findings.size(), 1U);
  EXPECT_THAT(answer.findings[0].text, HasSubstr("with waiting for the other ranks"));
  EXPECT_THAT(answer.findings[0].advice, HasSubstr("files of all ranks"));
}

TEST(AttachedAnswer, AllRanksTellWaitingFromCommunication) {
  const auto answer = answer_of(late_job().study());
  EXPECT_THAT(answer.sentence, HasSubstr("communication itself 3.0 %, waiting for late ranks 44.8 %"));
}

// Buckets are DDP's: where parameters are sharded, other settings help.
TEST(AttachedAnswer, AdviceOnCommunicationFitsWhatTheJobUses) {
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"FSDP::root_pre_forward", "larger units of FSDP"},
      {"DistributedDataParallel.forward", "bucket_cap_mb"},
      {"mine", "fewer and larger exchanges"}};
  for (const auto& [scope, advice] : kinds) {
    testing::MadeAttachedJob job(2);
    for (int i = 0; i < 20; ++i) {
      for (std::size_t r = 0; r < 2; ++r) job.scope(r, 10, scope), job.backward(r, 20);
      job.together(20);
      for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3);
    }
    const auto answer = answer_of(job.study());
    ASSERT_EQ(answer.findings.size(), 1U);
    EXPECT_THAT(answer.findings[0].advice, HasSubstr(advice));
  }
}

TEST(AttachedAnswer, OneProcessWithoutRanksWaitsForNobody) {
  testing::MadeAttachedJob job(1);
  for (int i = 0; i < 12; ++i) job.load(0, 2), job.backward(0, 20), job.optimize(0, 3);
  for (auto& file : job.files) file.header.rank_known = 0;
  EXPECT_THAT(answer_of(job.study()).sentence, Not(HasSubstr("other ranks")));
}

}  // namespace
}  // namespace paceline::report
