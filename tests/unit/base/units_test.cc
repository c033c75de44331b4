// SPDX-License-Identifier: MIT
#include "base/units.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(Units, ThreeDigitsAndTheRightScale) {
  EXPECT_EQ(format_duration_ns(54.12e6), "54.1 ms");
  EXPECT_EQ(format_duration_ns(812), "812 ns");
  EXPECT_EQ(format_duration_ns(1.2149e9), "1.21 s");
  EXPECT_EQ(format_duration_ns(999.6e3), "1.00 ms");
  EXPECT_EQ(format_ms(331.44e6), "331");
  EXPECT_EQ(format_count(53), "53");
  EXPECT_EQ(format_count(2 / 3.0), "0.67");
  EXPECT_EQ(format_bytes(312.2e6), "312 MB");
  EXPECT_EQ(format_percent(0.0612), "6.1 %");
  EXPECT_EQ(format_significant(0.012345), "0.0123");
  EXPECT_EQ(format_significant(1000), "1000");
  EXPECT_EQ(format_fixed(1.555, 1), "1.6");
}

TEST(Units, NoFigureIsLongerThanFifteenDigits) {
  EXPECT_EQ(format_significant(999e12), "999000000000000");
  EXPECT_EQ(format_significant(9.999e14), "1.00e+15");
  EXPECT_EQ(format_significant(-1e308, 2), "-1.0e+308");
  EXPECT_EQ(format_significant(1e-300), "1.00e-300");
  EXPECT_EQ(format_significant(1.5e-15), "0.00000000000000150");
  EXPECT_EQ(format_bytes(1e300), "1.00e+288 TB");
  EXPECT_EQ(format_percent(1e300), "1.0e+302 %");
  EXPECT_EQ(format_fixed(999'999'999'999'999, 2), "999999999999999.00");
  EXPECT_EQ(format_fixed(1e200, 0), "1e+200");
  EXPECT_EQ(format_fixed(1e-200, 2), "0.00");
}

TEST(Units, OneHasNoPlural) {
  EXPECT_EQ(plural(1, "rank"), "1 rank");
  EXPECT_EQ(plural(0, "rank"), "0 ranks");
  EXPECT_EQ(plural(2, "rank"), "2 ranks");
  EXPECT_EQ(plural(6, "process"), "6 processes");
}

TEST(Units, TimeForPeople) {
  EXPECT_EQ(format_time_left(172), "2 m 52 s");
  EXPECT_EQ(format_time_left(9.6), "10 s");
  EXPECT_EQ(format_time_left(7260), "2 h 01 m");
  EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00Z");
}

}  // namespace
}  // namespace paceline
