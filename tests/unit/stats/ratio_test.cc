// SPDX-License-Identifier: MIT
#include "stats/ratio.h"

#include <gtest/gtest.h>

#include <cmath>

namespace paceline::stats {
namespace {

// On logarithms the half-widths add like the sides of a right triangle: 0.03 and 0.04 make 0.05.
TEST(Ratio, HalfWidthsAddAsSquaresOnLogarithms) {
  const auto around = [](double value, double half) {
    return Bracketed{value, {value * std::exp(-half), value * std::exp(half)}};
  };
  const auto ratio = ratio_of(around(20, 0.03), around(10, 0.04));
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_NEAR(std::log(ratio.ci.high / 2), 0.05, 1e-12);
  EXPECT_NEAR(std::log(2 / ratio.ci.low), 0.05, 1e-12);
}

TEST(Ratio, TheOtherWayRoundIsTheInverse) {
  const Bracketed a{3, {2.5, 4}}, b{7, {6.9, 7.5}};
  const auto there = ratio_of(a, b), back = ratio_of(b, a);
  EXPECT_NEAR(there.ci.low * back.ci.high, 1, 1e-12);
  EXPECT_NEAR(there.ci.high * back.ci.low, 1, 1e-12);
}

}  // namespace
}  // namespace paceline::stats
