// SPDX-License-Identifier: MIT
#include "base/process_limit.h"

#include <gmock/gmock.h>

#include <system_error>

#include "base/display_text.h"
#include "base/json.h"

namespace paceline {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ProcessLimit, RefusedThreadsAreExplained) {
  const std::system_error refused(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_THAT(plain_reason(refused), HasSubstr("no more processes or threads can be started"));
  EXPECT_TRUE(lacks_processes("libgomp: Thread creation failed: Resource temporarily unavailable"));
}

TEST(ProcessLimit, SocketsAndLocksHaveTheSameWords) {
  for (const char* words : {"The client socket has failed to connect to [node0]:29500 (errno: 11 - Resource "
                            "temporarily unavailable).",
                            "started\ncannot lock 'x': Resource temporarily unavailable",
                            "recv: Resource temporarily unavailable"})
    EXPECT_FALSE(lacks_processes(words)) << words;
  EXPECT_TRUE(
      lacks_processes("x\nOpenBLAS blas_thread_init: pthread_create: Resource temporarily unavailable\ny"));
}

TEST(ProcessLimit, OtherReasonsStayAsTheyAre) {
  EXPECT_EQ(plain_reason(std::runtime_error("no such device")), "no such device");
  try {
    (void)nlohmann::json("7").get<int>();
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_THAT(plain_reason(e), Not(HasSubstr("json.exception")));
  }
}

}  // namespace
}  // namespace paceline
