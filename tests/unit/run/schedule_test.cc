// SPDX-License-Identifier: MIT
#include "run/schedule.h"

#include <gtest/gtest.h>

#include <set>

namespace paceline::run {
namespace {

TEST(Schedule, EveryRepetitionOfEveryCaseRunsOnce) {
  const auto slots = interleaved_order({6, 1, 3, 0}, 42);
  EXPECT_EQ(slots.size(), 10U);
  std::set<std::pair<std::size_t, std::int64_t>> seen;
  for (const auto& s : slots) EXPECT_TRUE(seen.insert({s.case_index, s.repetition}).second);
  EXPECT_FALSE(seen.contains({3, 0}));
}

TEST(Schedule, NoRepetitionStartsBeforeTheLastOneIsDone) {
  std::int64_t last = 0;
  for (const auto& s : interleaved_order({4, 4, 4}, 1)) {
    EXPECT_GE(s.repetition, last);
    last = s.repetition;
  }
}

TEST(Schedule, OddRepetitionsReverseTheOrderOfTheOneBefore) {
  const auto slots = interleaved_order({2, 2, 2, 2, 2}, 9);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(slots[i].case_index, slots[9 - i].case_index);
}

TEST(Schedule, TheSeedDecidesTheOrder) {
  const auto order = [](std::uint64_t seed) {
    std::vector<std::size_t> out;
    for (const auto& s : interleaved_order({1, 1, 1, 1, 1, 1, 1, 1}, seed)) out.push_back(s.case_index);
    return out;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

}  // namespace
}  // namespace paceline::run
