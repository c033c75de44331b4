// SPDX-License-Identifier: MIT
#include "workload/precision_limits.h"

#include <gtest/gtest.h>

namespace paceline::workload {
namespace {

TEST(PrecisionLimits, FollowThePrecisionThatRan) {
  pass::PassSpec spec;
  spec.tolerance = {1e-4, 0.99999};
  spec.accuracy.outputs_decide_too = true;
  spec.limits = {{"int8", {0.3, 0.95, 0, 0.5, false}, 0.1, false}};
  use_limits(spec, "fp32");
  EXPECT_DOUBLE_EQ(spec.tolerance.max_rel_err, 1e-4);
  use_limits(spec, dominant_precision({"", {{"fp32", 0.2, 9}, {"int8", 0.8, 3}}, "read back"}));
  EXPECT_DOUBLE_EQ(spec.tolerance.max_rel_err, 0.3);
  EXPECT_FALSE(spec.tolerance.max_decides);
  EXPECT_DOUBLE_EQ(spec.accuracy.max_changed, 0.1);
  EXPECT_FALSE(spec.accuracy.outputs_decide_too);
  EXPECT_EQ(dominant_precision({}), "");
}

TEST(PrecisionLimits, TravelToTheWorker) {
  pass::PassSpec spec;
  spec.limits = {{"int8", {0.3, 0.95, 0, 0.5, false}, 0.1, false}};
  spec.output_tolerances = {{0.1, -1, 2, 0.4, false, 3}};
  const auto read = pass::pass_from_json(to_json(spec));
  ASSERT_EQ(read.limits.size(), 1U);
  EXPECT_EQ(read.limits[0].precision, "int8");
  EXPECT_FALSE(read.limits[0].tolerance.max_decides);
  EXPECT_DOUBLE_EQ(read.output_tolerances.at(0).scale, 3);
}

}  // namespace
}  // namespace paceline::workload
