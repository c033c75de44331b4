// SPDX-License-Identifier: MIT
#include "result/stored/labelled_answers.h"

#include <gtest/gtest.h>

namespace paceline::result {
namespace {

TEST(LabelledAnswers, AreReadAsTheyWereStored) {
  for (const std::size_t inputs : {1U, 7U, 8U, 9U, 1000U}) {
    std::vector<bool> right;
    for (std::size_t i = 0; i < inputs; ++i) right.push_back(i % 3 == 0 || i % 7 == 1);
    const LabelledAnswers stored{"hash", stored_answers(right)};
    EXPECT_EQ(read_answers(stored, static_cast<std::int64_t>(inputs)), right);
  }
  EXPECT_EQ(stored_answers({true, false, true}), "BQ==") << "the lowest bit is the first input";
}

TEST(LabelledAnswers, OtherNumbersOfInputsAreRefused) {
  const LabelledAnswers stored{"hash", stored_answers(std::vector<bool>(16, true))};
  for (const std::int64_t inputs : {-1, 0, 8, 17}) EXPECT_FALSE(read_answers(stored, inputs)) << inputs;
  EXPECT_FALSE(read_answers({"hash", "not base64"}, 16));
  EXPECT_FALSE(read_answers({}, 16));
}

TEST(LabelledAnswers, VeryManyAreNotStored) {
  EXPECT_FALSE(stored_answers(std::vector<bool>(kMostStoredAnswers, true)).empty());
  EXPECT_TRUE(stored_answers(std::vector<bool>(kMostStoredAnswers + 1, true)).empty());
}

}  // namespace
}  // namespace paceline::result
