// SPDX-License-Identifier: MIT
#include "process/process_cost.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace paceline::process {
namespace {

TEST(ProcessCost, CountsTimeAndMemoryOfOneProcess) {
  const std::atomic<bool> never{false};
  const auto log = std::filesystem::temp_directory_path() / "cost.log";
  const auto sleeps = cost_of_process({"/bin/sleep", "0.1"}, log, never);
  EXPECT_GE(sleeps.wall_ns, 1e8);
  EXPECT_LT(sleeps.cpu_ns, 5e7);
  EXPECT_EQ(sleeps.failure, "");
  const auto fails = cost_of_process({"/bin/sh", "-c", "exit 3"}, log, never);
  EXPECT_EQ(fails.failure, "exit code 3");
  // 200 MB in one string of the shell.
  const auto large =
      cost_of_process({"/bin/sh", "-c", "x=$(head -c 200000000 /dev/zero | tr '\\0' a); :"}, log, never);
  ASSERT_TRUE(large.peak_bytes);
  EXPECT_GT(*large.peak_bytes, 150'000'000);
  EXPECT_GT(large.cpu_ns, 1e6);
  const std::atomic<bool> now{true};
  EXPECT_TRUE(cost_of_process({"/bin/sleep", "10"}, log, now).interrupted);
}

}  // namespace
}  // namespace paceline::process
