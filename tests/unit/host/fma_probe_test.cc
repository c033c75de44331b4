// SPDX-License-Identifier: MIT
#include "host/fma_probe.h"

#include <gtest/gtest.h>

#include "host/cpu.h"

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

}  // namespace
}  // namespace paceline::host
