// SPDX-License-Identifier: MIT
#include "host/checks/fma_probe.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "host/machine/cpu.h"
#include "unit/host/little_room.h"

namespace paceline::host {
namespace {

TEST(FmaProbe, MeasuresEachInstructionSetOfThisCpu) {
  const auto cpu = read_cpu();
  const auto found = measure_fma_rates(2, 3, 0.002);
  std::vector<std::string> names;
  for (const auto& rate : found) {
    names.push_back(rate.instructions);
    ASSERT_EQ(rate.flops_per_s.size(), 3U);
    for (const double x : rate.flops_per_s) EXPECT_GT(x, 1e6);
  }
  std::vector<std::string> expected;
  if (cpu.has_isa("avx2") && cpu.has_isa("fma")) expected.emplace_back("avx2");
  if (cpu.has_isa("avx512f")) expected.emplace_back("avx512f");
  EXPECT_EQ(names, expected);
}

TEST(CopyProbe, CountsWhatIsReadAndWrittenByAllThreads) {
  const auto rates = measure_copy_rates(2, 8'000'000, 5);
  ASSERT_EQ(rates.size(), 5U);
  for (const double x : rates) EXPECT_GT(x, 1e6);
  try {
    measure_copy_rates(2, std::size_t{1} << 60, 2);
    FAIL() << "no machine has so much memory";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnavailable);
  }
}

TEST(FmaProbe, ThreadsThatCannotStartAreAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
  GTEST_SKIP() << "a limit on address space, and a loop for this CPU";
#endif
  if (!read_cpu().has_isa("avx2")) GTEST_SKIP() << "no loop for this CPU";
  EXPECT_EXIT(test::run_with_little_room([] { measure_fma_rates(64, 3, 0.002); }),
              testing::ExitedWithCode(test::kRefused), "cannot start 64 threads");
}

}  // namespace
}  // namespace paceline::host
