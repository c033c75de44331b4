// SPDX-License-Identifier: MIT
#include "cli/interrupts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace paceline::cli {
namespace {

constexpr auto kLater = std::chrono::milliseconds(1100);
constexpr int kRanOn = 7;

// Ends with kRanOn where no signal ended it.
[[noreturn]] void signalled(std::chrono::milliseconds between) {
  const InterruptGuard guard;
  std::raise(SIGINT);
  std::this_thread::sleep_for(between);
  std::raise(SIGTERM);
  std::_Exit(InterruptGuard::flag() ? kRanOn : 0);
}

TEST(Interrupts, TwoWithinASecondAreOneRequest) {
  EXPECT_EXIT(signalled(std::chrono::milliseconds(100)), testing::ExitedWithCode(kRanOn), "");
}

TEST(Interrupts, ALaterOneEndsAtOnce) {
  EXPECT_EXIT(signalled(kLater), testing::ExitedWithCode(130), "interrupted twice");
}

}  // namespace
}  // namespace paceline::cli
