// SPDX-License-Identifier: MIT
#include "result/judged/reference.h"

#include <gtest/gtest.h>

namespace paceline::result {
namespace {

CaseResult checked_case() {
  CaseResult one;
  one.repetitions.resize(1);
  one.correctness.checked = one.correctness.passed = true;
  one.correctness.verdict = answer::Verdict::kYes;
  return one;
}

void expect_remark(const CaseResult& one, OutputDoubt doubt, const char* word, const char* why) {
  const auto remark = check_remark(one);
  EXPECT_EQ(remark.doubt, doubt);
  EXPECT_EQ(remark.word(), word);
  EXPECT_EQ(remark.why, why);
  EXPECT_EQ(static_cast<bool>(remark), doubt != OutputDoubt::kNone);
}

TEST(CheckRemark, IsAValueWithItsWord) {
  auto one = checked_case();
  expect_remark(one, OutputDoubt::kNone, "", "");
  one.correctness.independence = "the reference also ran in eager";
  expect_remark(one, OutputDoubt::kNotIndependent, "not independent", "the reference also ran in eager");
  one.correctness.checked = false;
  one.correctness.reference = "none: nobody makes one",
  one.correctness.unchecked_because = "nobody makes one";
  expect_remark(one, OutputDoubt::kNotChecked, "unchecked", "nobody makes one");
  one.correctness.verdict = answer::Verdict::kCannotSay, one.correctness.verdict_because = "too few inputs";
  expect_remark(one, OutputDoubt::kUndecided, "cannot say", "too few inputs");
}

TEST(CheckRemark, StandsBesideMeasuredInferenceOnly) {
  auto one = checked_case();
  one.correctness.checked = false;
  one.benchmark.kind = WorkloadKind::kTraining;
  expect_remark(one, OutputDoubt::kNone, "", "");
  one.benchmark.kind = WorkloadKind::kInference, one.repetitions.clear();
  expect_remark(one, OutputDoubt::kNone, "", "");
}

// A reference is not what its name ends like.
TEST(CheckRemark, TheNameOfTheReferenceDecidesNothing) {
  auto one = checked_case();
  one.correctness.reference = "a file called no independent check";
  EXPECT_TRUE(has_independent_reference(one.correctness));
  expect_remark(one, OutputDoubt::kNone, "", "");
}

}  // namespace
}  // namespace paceline::result
