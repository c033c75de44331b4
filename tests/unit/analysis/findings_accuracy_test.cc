// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "result/judged/reference.h"
#include "support/sample_runs.h"
#include "support/words.h"
#include "unit/analysis/findings_of.h"

namespace paceline::analysis {
namespace {

using ::paceline::test::says;
using result::RunResult;

TEST(AccuracyFindings, AChangeOfAnswersIsReportedWithItsInterval) {
  RunResult run = quiet_run();
  run.cases[0].benchmark.precision = "int8";
  EXPECT_TRUE(of_kind(run, "accuracy_change").empty());  // judged by its outputs: nothing is known of answers
  paceline::testing::judge_by_answers(run.cases[0], 1, 50);
  const auto found = of_kind(run, "accuracy_change");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "int8 changes the top-1 answer of eager resnet50 at batch 1 for 2 % (1–5 %) of 50 inputs.");
  EXPECT_EQ(found[0].evidence,
            "50 distinct inputs (random, seed 1), reference: eager fp32, same weights and inputs");
}

TEST(AccuracyFindings, AllAnswersChangedIsAHundredPerCent) {
  RunResult run = quiet_run();
  run.cases[0].benchmark.precision = "int8";
  paceline::testing::judge_by_answers(run.cases[0], 50, 50);
  const auto found = of_kind(run, "accuracy_change");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0].text, "for 100 % (")) << found[0].text;
  EXPECT_FALSE(says(found[0].text, "e+")) << found[0].text;
}

TEST(AccuracyFindings, KeptAnswersLeaveRoomForDoubt) {
  RunResult run = quiet_run();
  paceline::testing::judge_by_answers(run.cases[0], 0, 64);
  EXPECT_TRUE(of_kind(run, "accuracy_change").empty());  // fp32 should keep them
  run.cases[0].benchmark.precision = "int8";
  const auto found = of_kind(run, "accuracy_change");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(
      says(found[0].text, "keeps every top-1 answer of eager resnet50 at batch 1 on 64 inputs; up to 3 %"));
  run.cases[0].config_effective["accuracy.reference"] = "float.onnx";
  run.cases[0].correctness.reference = "the fp32 run of float.onnx in onnxruntime";
  const auto told = of_kind(run, "accuracy_change").at(0);
  EXPECT_TRUE(says(told.text, "keeps every top-1 answer of the fp32 run of float.onnx in onnxruntime on 64"));
  run.cases[0].correctness.independence = "the reference also ran in onnxruntime";
  EXPECT_TRUE(of_kind(run, "accuracy_change").empty()) << "a case that is compared with itself keeps nothing";
}

TEST(AccuracyFindings, AChangeOfAccuracyIsAnotherOne) {
  RunResult run = quiet_run();
  run.cases[1].benchmark.precision = "int8";
  auto& labelled = run.cases[1].correctness.labelled;
  labelled.change = {-0.004, -0.013, 0.005, 0.95, "tango_score"};
  labelled.lost = 12;
  labelled.gained = 8;
  const auto found = of_kind(run, "accuracy_change");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(
      says(found[0].text,
           "changes the top-1 accuracy of torchscript resnet50 at batch 1 by -0.4 points (-1.3 to +0.5)"))
      << found[0].text;
  EXPECT_TRUE(says(found[0].text, "12 lost, 8 gained"));
}

TEST(AccuracyFindings, AClaimThatCannotBeMadeIsAWarning) {
  RunResult run = quiet_run();
  auto& claim = run.cases[0].correctness.claim;
  claim.limit = 0.005;
  claim.verdict = answer::Verdict::kYes;
  EXPECT_TRUE(of_kind(run, "unclaimed_accuracy").empty());
  claim.verdict = answer::Verdict::kCannotSay;
  claim.detail = "598 distinct inputs are needed";
  const auto found = of_kind(run, "unclaimed_accuracy");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, "warning");
  EXPECT_TRUE(says(found[0].text, "less than 0.5 % cannot be claimed: 598 distinct inputs are needed"));
}

TEST(AccuracyFindings, CasesOfWhichTheSameIsNotKnownShareAFinding) {
  RunResult run = quiet_run();
  for (auto& one : run.cases) {
    one.repetitions.resize(1);
    one.correctness.checked = one.correctness.passed = false;
    one.correctness.verdict = answer::Verdict::kNotAsked;
    one.correctness.unchecked_because = "no engine here makes a reference for this model";
  }
  auto found = of_kind(run, "unknown_accuracy");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].text,
      "The outputs of resnet50 eager fp32 b1, resnet50 torchscript fp32 b1 are unchecked: no engine here "
      "makes a reference for this model.");
  EXPECT_EQ(found[0].about.size(), 2U);
  run.cases[1].correctness.checked = true;
  run.cases[1].correctness.verdict = answer::Verdict::kCannotSay;
  run.cases[1].correctness.verdict_because = "output 'y': it does not depend on the inputs";
  found = of_kind(run, "unknown_accuracy");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(says(found[0].text,
                   "cannot say whether the outputs of resnet50 torchscript fp32 b1 are right: output 'y'"))
      << found[0].text;
  run.cases[1].correctness.passed = true;
  run.cases[1].correctness.verdict = answer::Verdict::kYes;
  EXPECT_EQ(of_kind(run, "unknown_accuracy").size(), 1U);
}

}  // namespace
}  // namespace paceline::analysis
