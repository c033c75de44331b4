// SPDX-License-Identifier: MIT
#include "run/case/quiet.h"

#include <gtest/gtest.h>

namespace paceline::run {
namespace {

result::Noise others(double share_of_machine) {
  result::Noise noise;
  noise.foreign_cpu_frac = share_of_machine;
  return noise;
}

TEST(Quiet, AWindowWithoutOthersWas) {
  EXPECT_TRUE(was_quiet(others(0)));
  EXPECT_FALSE(was_quiet(others(0.5)));
}

TEST(Quiet, AWindowOfWhichNobodyCanTellWasNot) {
  result::Noise unknown;
  unknown.foreign_cpu_frac = Number::missing("no /proc/stat");
  EXPECT_FALSE(was_quiet(unknown));
}

}  // namespace
}  // namespace paceline::run
