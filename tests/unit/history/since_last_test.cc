// SPDX-License-Identifier: MIT
#include "history/since_last.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "base/scratch_folder.h"
#include "history_runs.h"

namespace paceline::history {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::entry_in;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SinceLast, TheIntervalIsThatOfTheNextRun) {
  // Logarithms 0, 0.1, 0.2: mean 0.1, sd 0.1; t(2, 95 %) = 4.3027.
  const std::array earlier{1.0, std::exp(0.1), std::exp(0.2)};
  const auto found = since_last(std::exp(0.7), earlier);
  ASSERT_TRUE(found);
  const double half = 4.30265 * 0.1 * std::sqrt(4.0 / 3);
  EXPECT_NEAR(std::log(found->ratio), 0.6, 1e-12);
  EXPECT_NEAR(std::log(found->low), 0.6 - half, 1e-5);
  EXPECT_NEAR(std::log(found->high), 0.6 + half, 1e-5);
  EXPECT_TRUE(found->differs());
  EXPECT_FALSE(since_last(std::exp(0.5), earlier)->differs());
}

TEST(SinceLast, NothingIsSaidOfTwoRunsOrOfZero) {
  EXPECT_FALSE(since_last(1, std::array{1.0, 1.0}));
  EXPECT_FALSE(since_last(0, std::array{1.0, 1.0, 1.0}));
  EXPECT_FALSE(since_last(1, std::array{1.0, 0.0, 1.0}));
}

TEST(SinceLast, TheLineNamesRunsAndIsNoVerdict) {
  const ScratchFolder scratch = ScratchFolder::below_temp("since");
  Index index(scratch.path());
  const auto results = index.folder();
  index.add(entry_in(results, 0, 1.00));
  index.add(entry_in(results, 1, 1.01));
  EXPECT_THAT(since_last_lines(index, entry_in(results, 2, 1.5)), IsEmpty());
  index.add(entry_in(results, 2, 0.99));
  EXPECT_THAT(since_last_lines(index, entry_in(results, 3, 1.5)),
              ElementsAre(AllOf(HasSubstr("50 % slower than the last 3 runs here ("),
                                HasSubstr("drift may be the cause"), HasSubstr("paceline compare"),
                                HasSubstr(testing::run_id_of(2)))));
  EXPECT_THAT(since_last_lines(index, entry_in(results, 3, 0.5)), ElementsAre(HasSubstr("50 % faster")));
  EXPECT_THAT(since_last_lines(index, entry_in(results, 3, 1.0)),
              ElementsAre(HasSubstr("within the spread")));
  auto cut = entry_in(results, 3, 1.0);
  cut.cases[0].outcome = kCutShort;
  EXPECT_THAT(since_last_lines(index, cut), ElementsAre(::testing::StartsWith("interrupted; within")));
}

}  // namespace
}  // namespace paceline::history
