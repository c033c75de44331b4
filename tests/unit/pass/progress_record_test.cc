// SPDX-License-Identifier: MIT
// Live figures on their way from a worker to those who watch.
#include <gtest/gtest.h>

#include "base/error.h"
#include "pass/records.h"

namespace paceline::pass {
namespace {

using result::StepPart;

// As they arrive: a line of text was between.
std::optional<ProgressRecord> received(const nlohmann::json& record) {
  PassReport report;
  return apply_record(report, nlohmann::json::parse(record.dump()));
}

TEST(ProgressRecord, FiguresArriveAsNumbers) {
  ProgressRecord sent;
  sent.phase = "measure", sent.n = 40, sent.elapsed_s = 1.5;
  sent.p50_ns = 2e6;
  sent.ci_low_ns = Number::missing("insufficient_samples");
  sent.step = 39, sent.blocks = true;
  auto& steps = sent.steps.emplace();
  steps.samples_per_s = 128, steps.loss = 2.345, steps.slowest = SlowestRank{3, 0.018};
  steps.shares[StepPart::kForward] = 0.4;
  const auto got = received(progress_record(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->phase, "measure");
  EXPECT_EQ(got->n, 40);
  EXPECT_EQ(got->elapsed_s, 1.5);
  EXPECT_EQ(got->p50_ns, 2e6);
  EXPECT_EQ(got->ci_low_ns.reason(), "insufficient_samples");
  EXPECT_EQ(got->step, 39);
  EXPECT_TRUE(got->blocks);
  ASSERT_TRUE(got->steps);
  EXPECT_EQ(got->steps->samples_per_s, 128);
  EXPECT_EQ(got->steps->loss, 2.345);
  ASSERT_TRUE(got->steps->slowest);
  EXPECT_EQ(got->steps->slowest->rank, 3);
  EXPECT_EQ(got->steps->slowest->beyond, 0.018);
  EXPECT_EQ(got->steps->shares[StepPart::kForward], 0.4);
  EXPECT_FALSE(got->steps->shares[StepPart::kBackward]);
}

TEST(ProgressRecord, ANoticeIsASentenceWithoutFigures) {
  const auto got = received(notice_record("rank 1 is late"));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->notice, "rank 1 is late");
  EXPECT_EQ(got->fault_ns, 0);
  EXPECT_FALSE(got->steps);
  EXPECT_GT(received(fault_record("dies now"))->fault_ns, 0);
}

TEST(ProgressRecord, ADamagedOneIsNamed) {
  const auto bad = nlohmann::json{{"type", "progress"}, {"progress", {{"n", "many"}}}};
  try {
    received(bad);
    ADD_FAILURE() << "it was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kData);
    EXPECT_NE(std::string(e.what()).find("n"), std::string::npos);
  }
}

}  // namespace
}  // namespace paceline::pass
