// SPDX-License-Identifier: MIT
#include "report/subjects.h"

#include <gtest/gtest.h>

namespace paceline::report {
namespace {

TEST(Subjects, HaveHeadingsAndSomethingToSay) {
  for (const Subject* subject : kSubjects) {
    EXPECT_FALSE(subject->heading.empty());
    EXPECT_TRUE(subject->of_runs || subject->of_case);
    EXPECT_EQ(subject->of_runs != nullptr, !subject->id.empty()) << subject->heading;
    EXPECT_TRUE(!subject->of_case || subject->of_case(alone({})).empty()) << subject->heading;
  }
}

}  // namespace
}  // namespace paceline::report
