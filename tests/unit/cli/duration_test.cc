// SPDX-License-Identifier: MIT
#include "cli/duration.h"

#include <gtest/gtest.h>

namespace paceline::cli {
namespace {

TEST(RoughRange, HasOneDigitPerEnd) {
  EXPECT_EQ(rough_range(61, 171), "1–3 min");
  EXPECT_EQ(rough_range(4.2, 17), "4–20 s");
  EXPECT_EQ(rough_range(42, 100), "40 s–2 min");
  EXPECT_EQ(rough_range(3700, 7100), "1–2 h");
  EXPECT_EQ(rough_range(3 * 3600, 30 * 86400), "3 h–30 days");
  EXPECT_EQ(rough_range(0.2, 2), "1–2 s");
}

TEST(RoughRange, RoundsOutwardsAndIntoTheNextUnit) {
  EXPECT_EQ(rough_range(19, 57), "10 s–1 min");
  EXPECT_EQ(rough_range(30, 3599), "30 s–1 h");
  EXPECT_EQ(rough_range(60, 120), "1–2 min");
}

TEST(RoughRange, EqualEndsAreOneNumber) {
  EXPECT_EQ(rough_range(7, 7), "about 7 s");
  EXPECT_EQ(rough_range(303, 305), "about 5 min");
  EXPECT_EQ(rough_range(0, 0), "about 1 s");
  EXPECT_EQ(rough_time(7200), "2 h");
}

}  // namespace
}  // namespace paceline::cli
