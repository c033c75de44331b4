// SPDX-License-Identifier: MIT
#include "base/numbered_build.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(NumberedBuild, TheFirstHasTheNameAskedFor) {
  EXPECT_EQ(numbered_build("out.d/m.plan", 1), "out.d/m.plan");
  EXPECT_EQ(numbered_build("out.d/m.plan", 2), "out.d/m.build2.plan");
  EXPECT_EQ(numbered_build("out.d/m", 12), "out.d/m.build12");
  EXPECT_EQ(numbered_build("m.plan.log", 3), "m.plan.build3.log");
}

TEST(NumberedBuild, AllLeadBackToTheFirst) {
  for (const char* file : {"m.plan", "out.d/m.plan", "/a/b8/m.b8.plan", "m", ".plan"})
    for (const int number : {1, 2, 10, 99})
      EXPECT_EQ(first_build(numbered_build(file, number)), file) << number;
}

TEST(NumberedBuild, OtherNamesAreNoBuilds) {
  for (const char* file : {"m.b2.plan", "m.build.plan", "m.build1.plan", "m.build02.plan", "m.build2x.plan",
                           "rebuild2.plan", "m.build2/n.plan", ""})
    EXPECT_EQ(first_build(file), file);
}

}  // namespace
}  // namespace paceline
