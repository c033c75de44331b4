// SPDX-License-Identifier: MIT
#include "run/collective/nccl_tests_variables.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::run {
namespace {

TEST(NcclTestsVariables, TheMinimumIsHonoured) {
  EXPECT_EQ(nccl_tests_minimum({}), "");
  EXPECT_EQ(nccl_tests_minimum({{"NCCL_TESTS_MIN_BW", "12.5"}, {"NCCL_DEBUG", "INFO"}}), "12.5");
  EXPECT_NO_THROW(check_nccl_tests_variables({{"NCCL_TESTS_MIN_BW", "12.5"}}));
  EXPECT_THROW(check_nccl_tests_variables({{"NCCL_TESTS_MIN_BW", "fast"}}), Error);
}

TEST(NcclTestsVariables, ASplitThatSplitsNothingIsNoSplit) {
  for (const char* idle : {"AND 0x0", " AND 0 ", "AND0x0"})
    EXPECT_NO_THROW(check_nccl_tests_variables({{"NCCL_TESTS_SPLIT", idle}})) << idle;
  EXPECT_NO_THROW(check_nccl_tests_variables({{"NCCL_TESTS_SPLIT_MASK", "0x0"}}));
}

TEST(NcclTestsVariables, RefusesVariablesThatMeasureSomethingElse) {
  for (const char* name : {"NCCL_TESTS_SPLIT", "NCCL_TESTS_SPLIT_MASK", "NCCL_TESTS_DEVICE"}) {
    try {
      check_nccl_tests_variables({{name, "MOD 2"}});
      ADD_FAILURE() << name << " was taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      EXPECT_EQ(std::string(e.what()).rfind(std::string(name) + "=MOD 2: ", 0), 0U) << e.what();
    }
  }
}

}  // namespace
}  // namespace paceline::run
