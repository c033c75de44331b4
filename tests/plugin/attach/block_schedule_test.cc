// SPDX-License-Identifier: MIT
#include "attach/block_schedule.h"

#include <gtest/gtest.h>

#include <set>

namespace paceline::attach {
namespace {

TEST(ObserverBlocks, OneBlockOfEachGroupIsOffAndNeverTheFirst) {
  const BlockSchedule schedule(20, 10);
  std::set<std::uint64_t> places;
  for (std::uint64_t group = 0; group < 50; ++group) {
    int off = 0;
    for (std::uint64_t i = 0; i < 10; ++i) {
      const auto block = schedule.block_of((group * 10 + i) * 20 + 19, 0);
      EXPECT_EQ(block.number, group * 10 + i);
      if (block.on) continue;
      ++off;
      places.insert(i);
    }
    EXPECT_EQ(off, 1) << group;
  }
  EXPECT_FALSE(places.contains(0));
  EXPECT_EQ(places.size(), 9U);  // it keeps time with nothing
}

TEST(ObserverBlocks, NeverOffWithoutAShare) {
  const BlockSchedule schedule(10, 0);
  for (std::uint64_t step = 0; step < 1000; ++step) EXPECT_TRUE(schedule.block_of(step, 0).on);
}

TEST(ObserverBlocks, FullerFilesAreObservedMoreRarely) {
  const BlockSchedule schedule(10, 0);
  const auto on_share = [&](double used) {
    int on = 0;
    for (std::uint64_t block = 0; block < 1024; ++block) on += schedule.block_of(block * 10, used).on ? 1 : 0;
    return on / 1024.0;
  };
  EXPECT_EQ(on_share(0.49), 1);
  EXPECT_EQ(on_share(0.5), 0.5);
  EXPECT_EQ(on_share(0.8), 0.25);
  EXPECT_EQ(on_share(0.9), 0.125);
  EXPECT_EQ(on_share(1), 1 / 1024.0);
}

TEST(ObserverBlocks, TheClockGoesByTheOptimizerThatStepsOn) {
  StepClock clock;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(clock.stepped(0, 20));
  for (int i = 0; i < 19; ++i) EXPECT_FALSE(clock.stepped(1, 20));  // it may yet be one of a round
  EXPECT_EQ(clock.now(), 5U);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(clock.stepped(1, 20));
  EXPECT_EQ(clock.now(), 105U);
}

TEST(ObserverBlocks, TheClockGoesByRoundsOfManyOptimizers) {
  StepClock clock;
  for (int round = 0; round < 100; ++round)
    for (std::size_t i = 0; i < 60; ++i)
      for (std::size_t turn = 0; turn < (i == 7 ? 5U : 1U); ++turn)
        EXPECT_EQ(clock.stepped(i, 20), i == 0) << i;
  EXPECT_EQ(clock.now(), 100U);
}

TEST(ObserverBlocks, BlocksOfNoStepsAreOfOne) {
  EXPECT_EQ(BlockSchedule(0, 2).block_of(7, 0).number, 7U);
}

}  // namespace
}  // namespace paceline::attach
