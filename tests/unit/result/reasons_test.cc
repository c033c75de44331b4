// SPDX-License-Identifier: MIT
#include "result/judged/reasons.h"

#include <gtest/gtest.h>

#include <set>

namespace paceline::result {
namespace {

TEST(Reasons, EveryCodeStandsOnceAndSaysWhatItMeans) {
  std::set<std::string_view> codes;
  for (const auto& r : reasons()) {
    EXPECT_TRUE(codes.insert(r.code).second) << r.code;
    EXPECT_EQ(&reason_of(r.code), &r);
    EXPECT_FALSE(r.meaning.empty()) << r.code;
    const bool skipped = r.exit_code == ExitCode::kSkipped || r.exit_code == ExitCode::kOk ||
                         r.exit_code == ExitCode::kInterrupted;
    EXPECT_EQ(r.skips, skipped) << r.code;
    const bool cured = r.again == Again::kAfterCure || r.again == Again::kNewRun;
    EXPECT_EQ(cured, !r.cure.empty()) << r.code;
  }
}

TEST(Reasons, AnUnknownCodeIsAnError) {
  EXPECT_EQ(reason_of("of another version").code, "error");
  EXPECT_EQ(reason_of("").code, "error");
}

// Errors of a worker's pass and of a command are two ways through one table.
TEST(Reasons, ErrorsOfAWorkerComeBackAsTheyWent) {
  for (const auto error : {ErrorCode::kUsage, ErrorCode::kData, ErrorCode::kIo, ErrorCode::kUnsupported,
                           ErrorCode::kUnavailable, ErrorCode::kInternal})
    EXPECT_EQ(reason_of(reason_code_of(error)).error, error);
  EXPECT_EQ(reason_code_of(ErrorCode::kConfig), "config");
  EXPECT_EQ(reason_code_of(ErrorCode::kTimeout), "error");
  for (const auto* code : {"crash", "oom", "killed", "exit", "protocol", "error"}) {
    EXPECT_EQ(reason_of(code).error, ErrorCode::kInternal) << code;
    EXPECT_EQ(reason_of(code).exit_code, ExitCode::kWorkloadFailed) << code;
  }
  EXPECT_EQ(reason_of("timeout").error, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace paceline::result
