// SPDX-License-Identifier: MIT
#include "base/seconds.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(ParseSeconds, DurationsHaveUnits) {
  EXPECT_EQ(parse_seconds("0"), 0);
  EXPECT_NEAR(*parse_seconds("10ms"), 0.01, 1e-12);
  EXPECT_NEAR(*parse_seconds("1.5 s"), 1.5, 1e-12);
  EXPECT_NEAR(*parse_seconds("800us"), 8e-4, 1e-12);
  for (const auto* text : {"", "10", "-1s", "fast", "ms"}) EXPECT_FALSE(parse_seconds(text)) << text;
}

}  // namespace
}  // namespace paceline
