// SPDX-License-Identifier: MIT
#include "torch/isa_limit.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace paceline::torch_plugin {
namespace {

using Features = std::vector<std::string>;
const Features kAll{"avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_fp16"};

TEST(IsaLimit, TakesArithmeticAway) {
  EXPECT_EQ(features_left(kAll, "AVX2"), (Features{"avx2", "avx512f"}));
  EXPECT_EQ(features_left(kAll, "avx512_core"), (Features{"avx2", "avx512f"}));
  EXPECT_EQ(features_left(kAll, "AVX512_CORE_BF16"), (Features{"avx2", "avx512f", "avx512_bf16"}));
  EXPECT_EQ(features_left(kAll, "AVX10_1_512_AMX"),
            (Features{"avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16"}));
  for (const char* all : {"ALL", "DEFAULT", "", "no such level"}) EXPECT_EQ(features_left(kAll, all), kAll);
}

TEST(IsaLimit, EitherNameOfTheVariableCounts) {
  ASSERT_EQ(::unsetenv("ONEDNN_MAX_CPU_ISA"), 0);
  ASSERT_EQ(::unsetenv("DNNL_MAX_CPU_ISA"), 0);
  EXPECT_EQ(isa_limit_of_environment().variable, "");
  ASSERT_EQ(::setenv("DNNL_MAX_CPU_ISA", "AVX2", 1), 0);
  EXPECT_EQ(isa_limit_of_environment().value, "AVX2");
  ASSERT_EQ(::unsetenv("DNNL_MAX_CPU_ISA"), 0);
}

}  // namespace
}  // namespace paceline::torch_plugin
