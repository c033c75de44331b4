// SPDX-License-Identifier: MIT
// Progress of an attached job: what its newest steps tell.
#include "cli/attach/job_watch.h"

#include <gtest/gtest.h>

#include "support/made_attached_job.h"

namespace paceline::cli {
namespace {

using testing::MadeAttachedJob;

TEST(JobWatch, ProgressHasPartsAndTheLateRank) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 40; ++i)
    job.step([](std::size_t rank, int part) {
      return MadeAttachedJob::kUsual_ms[part] + (rank == 1 && part == 2 ? 14 : 0);
    });
  const auto record = progress_of(job.study());
  ASSERT_TRUE(record && record->steps && record->steps->slowest);
  EXPECT_EQ(record->step, 39);
  EXPECT_EQ(record->n, job.study().steps);
  EXPECT_NEAR(record->elapsed_s, 0.051 * static_cast<double>(record->n), 1e-6);
  EXPECT_NEAR(*record->p50_ns, 51e6, 1);  // 37 + 14
  EXPECT_NEAR(*record->steps->shares[result::StepPart::kForward], 10 / 51.0, 1e-6);
  EXPECT_EQ(record->steps->slowest->rank, 1);
  EXPECT_NEAR(record->steps->slowest->beyond, 14 / 35.0, 1e-3);  // own time of the other: 2 + 10 + 20 + 3
  EXPECT_EQ(record->steps->slowest->cause, "late in backward");
}

TEST(JobWatch, HealthyRanksHaveNoSlowestOne) {
  MadeAttachedJob job(2);
  job.plain_steps(40);
  EXPECT_FALSE(progress_of(job.study())->steps->slowest);
}

TEST(JobWatch, LabelsAreScripts) {
  EXPECT_EQ(label_of({"torchrun", "--nproc-per-node", "2", "jobs/train.py", "--lr", "1"}), "train.py");
  EXPECT_EQ(label_of({"sh", "run.sh"}), "sh run.sh");
}

}  // namespace
}  // namespace paceline::cli
