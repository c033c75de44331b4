// SPDX-License-Identifier: MIT
#include "attach/job_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline::attach {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FilePlace known(std::int64_t rank, std::int64_t world, std::int64_t started_ns, std::uint64_t steps = 100) {
  return {.rank = rank, .world = world, .started_ns = started_ns, .steps = steps, .rank_known = true};
}

TEST(JobFiles, TheNewestStartWithStepsCounts) {
  const std::vector<FilePlace> restarted{known(1, 2, 9), known(0, 2, 10), known(0, 2, 70), known(1, 2, 69)};
  EXPECT_THAT(job_files(restarted).job, ElementsAre(2, 3));
  EXPECT_THAT(job_files(restarted).others, ElementsAre(0, 1));
  // It ended within its second step.
  const std::vector<FilePlace> ended{known(0, 2, 10), known(1, 2, 9), known(0, 2, 70, 2), known(1, 2, 69, 1)};
  EXPECT_THAT(job_files(ended).job, ElementsAre(0, 1));
  // Rank 0 ended before its first step, so that it has no file of the second start.
  const std::vector<FilePlace> mixed{known(0, 2, 10), known(1, 2, 9), known(1, 2, 69, 1)};
  EXPECT_THAT(job_files(mixed).job, ElementsAre(0, 1));
  // No start has steps: the newest of each rank.
  const std::vector<FilePlace> none{known(0, 2, 10, 0), known(1, 2, 9, 0), known(0, 2, 70, 1)};
  EXPECT_THAT(job_files(none).job, ElementsAre(2, 1));
}

TEST(JobFiles, OneNumberOfRanksCounts) {
  const std::vector<FilePlace> fewer{known(0, 3, 1), known(1, 3, 1), known(2, 3, 1), known(0, 2, 60),
                                     known(1, 2, 60)};
  EXPECT_THAT(job_files(fewer).job, ElementsAre(3, 4));
  const std::vector<FilePlace> more{known(0, 1, 1), known(0, 2, 60, 1), known(1, 2, 60, 1)};
  EXPECT_THAT(job_files(more).job, ElementsAre(0));
  // torchrun's agent is rank 1 of 2 for its own launcher, and makes no step.
  const std::vector<FilePlace> agent{known(2, 4, 1), known(3, 4, 1), known(1, 2, 60, 0)};
  EXPECT_THAT(job_files(agent).job, ElementsAre(0, 1));
  EXPECT_THAT(job_files(agent).others, ElementsAre(2));
}

TEST(JobFiles, ProcessesWithoutARankAreApart) {
  const FilePlace small{.started_ns = 5, .steps = 3}, large{.started_ns = 1, .steps = 30};
  EXPECT_THAT(job_files(std::vector{small, large}).job, ElementsAre(1));
  EXPECT_THAT(job_files(std::vector{small, large}).apart, ElementsAre(0));
  const auto beside = job_files(std::vector{large, known(0, 1, 0)});
  EXPECT_THAT(beside.job, ElementsAre(1));
  EXPECT_THAT(beside.apart, ElementsAre(0));
  EXPECT_THAT(job_files({}).job, IsEmpty());
}

}  // namespace
}  // namespace paceline::attach
