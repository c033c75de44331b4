// SPDX-License-Identifier: MIT
#include "run/worker.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

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
  for (const auto* code : {"crash", "oom", "killed", "exit", "protocol", "error"})
    EXPECT_EQ(error_code_of(code), ErrorCode::kInternal) << code;
}

TEST(LacksRoom, IsToldFromALibraryThatIsMissing) {
  EXPECT_TRUE(lacks_room("cannot load plug-in: libtorch_cpu.so: failed to map segment from shared object"));
  EXPECT_TRUE(lacks_room("cannot create cache for search path: Cannot allocate memory"));
  EXPECT_FALSE(lacks_room("libtorch_cpu.so: cannot open shared object file: No such file or directory"));
}

// A library that gets no memory may abort, and the limit is why.
TEST(ExplainEnd, NamesALimitOnTheAddressSpace) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const auto reason = [] { return explain_end({}, SIGABRT, std::nullopt).reason; };
  rlimit limit{rlim_t{1} << 50, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_NE(reason().find("(ulimit -v)"), std::string::npos) << reason();
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(reason().find("ulimit") == std::string::npos, before.rlim_cur == RLIM_INFINITY) << reason();
}

}  // namespace
}  // namespace paceline::run
