// SPDX-License-Identifier: MIT
#include "base/half.h"

#include <gtest/gtest.h>

#include <limits>

namespace paceline {
namespace {

TEST(Half, EveryFiniteValueSurvivesTheWayThereAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((bits & 0x7c00U) == 0x7c00U) continue;
    EXPECT_EQ(float_to_half(half_to_float(half)), half) << bits;
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(float_to_half(1.0F), 0x3c00);
  EXPECT_EQ(float_to_half(-2.0F), 0xc000);
  EXPECT_EQ(float_to_half(65504.0F), 0x7bff);
  EXPECT_EQ(float_to_half(0x1.0p-24F), 0x0001);
  EXPECT_FLOAT_EQ(half_to_float(0x3555), 0.33325195F);
}

TEST(Half, RoundsTiesToEven) {
  EXPECT_EQ(float_to_half(1.0F + 0x1.0p-11F), 0x3c00);
  EXPECT_EQ(float_to_half(1.0F + 3 * 0x1.0p-11F), 0x3c02);
  EXPECT_EQ(float_to_half(65519.9F), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0F), 0x7c00);
}

TEST(Half, InfinityAndNan) {
  EXPECT_EQ(float_to_half(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isinf(half_to_float(0x7c00)));
}

TEST(BFloat16, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(bfloat16_to_float(0x3f80), 1.0F);
  EXPECT_EQ(bfloat16_to_float(0xc040), -3.0F);
}

TEST(BFloat16, RoundsTiesToEvenAndNeverToInfinity) {
  EXPECT_EQ(float_to_bfloat16(1.0F), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(1.0F + 0x1.0p-8F), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(1.0F + 3 * 0x1.0p-8F), 0x3f82);
  EXPECT_EQ(float_to_bfloat16(-std::numeric_limits<float>::max()), 0xff7f);
  EXPECT_EQ(float_to_bfloat16(std::numeric_limits<float>::infinity()), 0x7f80);
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace paceline
