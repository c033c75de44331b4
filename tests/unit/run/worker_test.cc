// SPDX-License-Identifier: MIT
#include "run/worker.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::run {
namespace {

TEST(ErrorCodeOf, FollowsWhatTheWorkerSaid) {
  EXPECT_EQ(error_code_of("unsupported"), ErrorCode::kUnsupported);
  EXPECT_EQ(error_code_of("unavailable"), ErrorCode::kUnavailable);
  EXPECT_EQ(error_code_of("timeout"), ErrorCode::kTimeout);
  EXPECT_EQ(error_code_of("config"), ErrorCode::kUsage);
  EXPECT_EQ(error_code_of("io"), ErrorCode::kIo);
  EXPECT_EQ(error_code_of("data"), ErrorCode::kData);
  EXPECT_EQ(error_code_of("crash"), ErrorCode::kData);
}

}  // namespace
}  // namespace paceline::run
