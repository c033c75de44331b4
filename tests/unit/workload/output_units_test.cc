// SPDX-License-Identifier: MIT
#include "workload/inference/gate/output_units.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "workload/inference/gate/accuracy_gate.h"

namespace paceline::workload {
namespace {

constexpr double kTiny = 1e-30, kSeen = 1e-14;  // mean squares of what little changes do to a column

// Two inputs, two columns that come near `scale` and two of next to nothing.
ComparedRows columns(float scale, float error = 0) {
  ComparedRows rows{2, 1, 4, {}, true, 2, 1, DType::kFloat32};
  rows.values = {0.9F * scale, 0.1F * scale, 1e-8F * scale,         0.0F,
                 0.2F * scale, 0.7F * scale, 1e-8F * scale + error, 0.0F};
  rows.sample_shape = {4};
  return rows;
}

ComparedRows reference(float scale) {
  auto rows = columns(scale);
  const double square = static_cast<double>(scale) * static_cast<double>(scale);
  rows.yardstick = Yardstick{.inputs = {kSeen * square, kSeen * square, kTiny * square, kTiny * square},
                             .layer = {1e-6 * square, 1e-6 * square, kTiny * square, kTiny * square},
                             .layer_name = "conv"};
  return rows;
}

double worst(float scale, float error) {
  double most = 0;
  for (const auto& group :
       units_of(columns(scale, error), reference(scale), *reference(scale).yardstick, Changes::kLargest))
    most = std::max(most, group.in_units());
  return most;
}

// As sigmoid rounds: 0 or 6e-8 where 1e-8 is right.
TEST(OutputUnits, ProbabilitiesRoundLikeOne) {
  EXPECT_LT(worst(1, 0x1p-24F), 5);
  EXPECT_GT(worst(1, 1e-6F), 5);
}

TEST(OutputUnits, OtherSmallColumnsHaveTheirOwnUnit) {
  EXPECT_GT(worst(100, 0x1p-24F), 5) << "pixels beside them";
  EXPECT_GT(worst(1e-3F, 0x1p-27F), 5) << "nothing comes near 1";
}

// A lower precision rounds inputs, weights and sums at once.
TEST(OutputUnits, ChangesAddUpBelowFp32) {
  auto right = reference(100);
  right.yardstick->weights = right.yardstick->order = right.yardstick->inputs;
  const auto unit = [&](Changes changes) {
    return units_of(columns(100), right, *right.yardstick, changes).front().unit;
  };
  EXPECT_DOUBLE_EQ(unit(Changes::kTogether), std::sqrt(3.0) * unit(Changes::kLargest));
  right.yardstick->weights.clear(), right.yardstick->order.clear();
  EXPECT_DOUBLE_EQ(unit(Changes::kTogether), unit(Changes::kLargest)) << "inputs alone were moved";
}

TEST(OutputUnits, BelowFp32TheSumOfAllChangesIsTheUnit) {
  const pass::Tolerance bf16{.max_rel_err = 1, .centred_cosine = 0, .ulps = 1, .rounds = true};
  auto right = reference(100);
  auto outputs = columns(100);
  outputs.values[0] += 2e-5F;  // 1.6 units over both inputs
  EXPECT_EQ(judge_outputs(outputs, &right, bf16, {}).verdict, answer::Verdict::kNo);
  right.yardstick->weights = right.yardstick->order = right.yardstick->inputs;
  EXPECT_NE(judge_outputs(outputs, &right, bf16, {}).verdict, answer::Verdict::kNo);
}

// An error within the other unit is judged in that, in which the check sees more.
TEST(OutputUnits, TheLongestSumsCountForErrorsBeyondTheOthers) {
  const pass::Tolerance fp32{.max_rel_err = 1e-4, .centred_cosine = 0.99999, .ulps = 5};
  auto right = reference(100);
  right.yardstick->layer = {1e-11, 1e-11, 1e-11, 1e-11};
  const auto verdict = [&](float error) {
    auto outputs = columns(100);
    outputs.values[0] += error;
    return judge_outputs(outputs, &right, fp32, {}).verdict;
  };
  EXPECT_EQ(verdict(2e-4F), answer::Verdict::kNo);
  right.yardstick->at_once.assign(4, 1e-8);
  EXPECT_EQ(verdict(2e-4F), answer::Verdict::kCannotSay) << "a layer in bfloat16 changes less than that";
  EXPECT_EQ(verdict(1e-2F), answer::Verdict::kNo);
}

TEST(OutputUnits, ProbabilitiesThatNoLayerMovesVisiblyBlindNobody) {
  const pass::Tolerance fp32{.max_rel_err = 1e-4, .centred_cosine = 0.99999, .ulps = 5};
  const auto right = reference(1);
  EXPECT_EQ(judge_outputs(columns(1, 0x1p-24F), &right, fp32, {}).verdict, answer::Verdict::kYes);
}

TEST(OutputUnits, ProbabilitiesThatNoLayerMovesAtAllCannotBeJudged) {
  const pass::Tolerance fp32{.max_rel_err = 1e-4, .centred_cosine = 0.99999, .ulps = 5};
  auto right = reference(1);
  right.yardstick->inputs.assign(4, 1e-20);
  right.yardstick->layer.assign(4, 1e-18);
  const auto judged = judge_outputs(columns(1), &right, fp32, {});
  EXPECT_EQ(judged.verdict, answer::Verdict::kCannotSay);
  ASSERT_FALSE(judged.outputs.empty());
  const auto& why = judged.outputs.front().blind;
  EXPECT_NE(why.find("less than its probabilities are rounded"), std::string::npos) << why;
}

}  // namespace
}  // namespace paceline::workload
