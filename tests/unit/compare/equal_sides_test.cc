// SPDX-License-Identifier: MIT
#include "compare/equal_sides.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "base/scratch_folder.h"
#include "compare/figures.h"

namespace paceline::compare {
namespace {

Comparison equal(double halfwidth, Pairing pairing = Pairing::kInTurns) {
  Figure figure;
  figure.decides = true;
  figure.ci = stats::Interval{std::exp(-halfwidth), std::exp(halfwidth)};
  ComparedCase one;
  one.pairing = pairing;
  one.figures.push_back(figure);
  Comparison comparison;
  comparison.cases.push_back(one);
  return comparison;
}

class EqualSides : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return scratch_.path() / "cache" / "equal.json"; }
  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-equal-sides");
};

TEST_F(EqualSides, TheMedianHalfWidthOfThisHostAndPairingCounts) {
  EXPECT_FALSE(equal_halfwidth(file(), "h", Pairing::kInTurns));
  for (const double width : {0.01, 0.02, 0.09}) keep_equal_sides(file(), "h", equal(width));
  keep_equal_sides(file(), "h", equal(0.3, Pairing::kAlternating));
  keep_equal_sides(file(), "other", equal(0.5));
  EXPECT_NEAR(*equal_halfwidth(file(), "h", Pairing::kInTurns), std::expm1(0.02), 1e-12);
  EXPECT_NEAR(*equal_halfwidth(file(), "h", Pairing::kAlternating), std::expm1(0.3), 1e-12);
  EXPECT_NEAR(*equal_halfwidth(file(), "other", Pairing::kInTurns), std::expm1(0.5), 1e-12);
}

TEST_F(EqualSides, OldOnesMakeRoomForNewOnes) {
  for (int i = 0; i < 5; ++i) keep_equal_sides(file(), "h", equal(0.5));
  for (int i = 0; i < 20; ++i) keep_equal_sides(file(), "h", equal(0.01));
  EXPECT_NEAR(*equal_halfwidth(file(), "h", Pairing::kInTurns), std::expm1(0.01), 1e-12);
}

TEST_F(EqualSides, ADamagedFileIsBegunAgain) {
  make_directories(file().parent_path());
  write_file_atomic(file(), "{\"not\": ");
  EXPECT_FALSE(equal_halfwidth(file(), "h", Pairing::kInTurns));
  keep_equal_sides(file(), "h", equal(0.02));
  EXPECT_TRUE(equal_halfwidth(file(), "h", Pairing::kInTurns));
}

TEST_F(EqualSides, AMarginIsAtLeastTwiceTheHalfWidth) {
  JudgeOptions options;
  options.threshold = 0.03;
  EXPECT_EQ(margin_of(options, Pairing::kInTurns), 0.03);
  options.equal = {.in_turns = 0.01, .alternating = 0.05};
  EXPECT_EQ(margin_of(options, Pairing::kInTurns), 0.03);
  EXPECT_EQ(margin_of(options, Pairing::kAlternating), 0.1);
  EXPECT_EQ(margin_of(options, Pairing::kApart), 0.03);
}

}  // namespace
}  // namespace paceline::compare
