// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "result/figures/summarize_training.h"

namespace paceline::result {
namespace {

StepRow exchanged(std::vector<BucketTimes> buckets) {
  StepRow row;
  row.buckets = std::move(buckets);
  return row;
}

TEST(Overlap, CommunicationBeforeTheLastGradientIsHidden) {
  EXPECT_DOUBLE_EQ(*overlap_ratio(exchanged({{8, 40, 60}, {8, 70, 90}})), 0.5);
  EXPECT_DOUBLE_EQ(*overlap_ratio(exchanged({{8, 10, 30}})), 0) << "one bucket is ready when all are";
}

TEST(Overlap, BucketsUnderWayTogetherAreOneTime) {
  EXPECT_DOUBLE_EQ(*overlap_ratio(exchanged({{8, 0, 60}, {8, 20, 50}, {8, 60, 80}})), 0.75);
  EXPECT_DOUBLE_EQ(*overlap_ratio(exchanged({{8, 0, 100}, {8, 75, 80}})), 0.75)
      << "the first outlasts the last";
}

TEST(Overlap, IsMissingWithAReason) {
  EXPECT_EQ(overlap_ratio(exchanged({})).reason(), "no gradients were exchanged");
  EXPECT_EQ(overlap_ratio(exchanged({{8, 0, 60}, {8, 20, {}}})).reason(), kEndUnknown);
}

TEST(Overlap, OfARunIsTheMedianOfTheMeanOverRanks) {
  const auto half = exchanged({{8, 40, 60}, {8, 70, 90}}), none = exchanged({{8, 10, 30}});
  EXPECT_DOUBLE_EQ(*overlap_ratio(std::vector<StepAcross>{{&half, &none}, {&half, &half}, {&half, &half}}),
                   0.5);
  EXPECT_DOUBLE_EQ(*overlap_ratio(std::vector<StepAcross>{{&half, &none}}), 0.25);
  const auto untimed = exchanged({{8, 0, {}}});
  EXPECT_EQ(overlap_ratio(std::vector<StepAcross>{{&half, &untimed}}).reason(), kEndUnknown);
  EXPECT_EQ(overlap_ratio(std::vector<StepAcross>{}).reason(), "no timed steps");
}

}  // namespace
}  // namespace paceline::result
