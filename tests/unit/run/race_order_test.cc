// SPDX-License-Identifier: MIT
#include "run/race_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "run/case/case_run.h"

// Rounds of a race, and what an arm costs that leaves it.
namespace paceline::run {
namespace {

CaseRuns racing_cases(std::size_t count) {
  CaseRuns runs(count);
  for (std::size_t i = 0; i < count; ++i) runs[i].index = i;
  return runs;
}

tune::Outcome cost_of(double cost) {
  tune::Outcome outcome;
  outcome.cost = cost;
  return outcome;
}

// Costs are 1, 2, 3, …
tune::Outcome by_index(const CaseRun& c, std::int64_t) {
  return cost_of(static_cast<double>(c.index + 1));
}

double never() {
  return HUGE_VAL;
}

std::vector<std::vector<TimedSlot>> rounds_of(RaceOrder& order, CaseRuns& runs,
                                              const std::function<void(const TimedSlot&)>& measure = {}) {
  std::map<std::int64_t, std::vector<TimedSlot>> rounds;
  while (const auto proposal = order.next(runs)) {
    const auto* round = std::get_if<TimedRound>(&*proposal);
    for (const auto& slot : round ? round->slots : std::vector{std::get<TimedSlot>(*proposal)}) {
      rounds[slot.repetition].push_back(slot);
      if (measure) measure(slot);
    }
  }
  std::vector<std::vector<TimedSlot>> list;
  for (const auto& [repetition, slots] : rounds) list.push_back(slots);
  return list;
}

TEST(RaceOrder, SlowArmsLeaveAndTheBestStays) {
  auto runs = racing_cases(3);
  tune::Search search({"a", "b", "c"});
  RaceOrder order(search, by_index, never);
  const auto rounds = rounds_of(order, runs);
  ASSERT_EQ(rounds.size(), search.rules().enough);
  EXPECT_EQ(rounds[0].size(), 3U);
  EXPECT_EQ(rounds[2].size(), 3U);
  EXPECT_EQ(rounds[3].size(), 1U);
  EXPECT_EQ(order.ending(runs[0]), result::EndedBecause::kNarrowEnough);
  EXPECT_EQ(order.ending(runs[2]), result::EndedBecause::kEliminated);
  EXPECT_FALSE(order.was_cut_short());
}

TEST(RaceOrder, ASecondRoundReversesTheFirstWhateverTheOrderOfArms) {
  std::map<std::vector<std::string>, std::vector<std::string>> orders;
  for (const auto& keys : {std::vector<std::string>{"a", "b", "c", "d"}, {"d", "b", "a", "c"}}) {
    auto runs = racing_cases(4);
    tune::Search search(keys);
    RaceOrder order(
        search, [](const CaseRun&, std::int64_t) { return cost_of(1); }, never);
    auto rounds = rounds_of(order, runs);
    for (std::size_t r = 0; r + 1 < rounds.size(); r += 2) {
      std::vector<std::string> first, second;
      for (const auto& slot : rounds[r]) first.push_back(keys[slot.case_index]);
      for (const auto& slot : rounds[r + 1]) second.push_back(keys[slot.case_index]);
      std::ranges::reverse(second);
      EXPECT_EQ(first, second);
      if (r == 0) orders[keys] = first;
    }
  }
  EXPECT_EQ(orders.begin()->second, orders.rbegin()->second);
}

TEST(RaceOrder, AFailedArmCostsThatArmAlone) {
  auto runs = racing_cases(3);
  tune::Search search({"a", "b", "c"});
  const auto judge = [](const CaseRun& c, std::int64_t) {
    auto outcome = cost_of(1);
    if (c.index == 1) outcome.cost = Number::missing("killed"), outcome.failed = "killed by signal 11";
    return outcome;
  };
  RaceOrder order(search, judge, never);
  const auto rounds = rounds_of(order, runs);
  EXPECT_EQ(rounds[0].size(), 3U);
  EXPECT_EQ(rounds[1].size(), 2U);
  EXPECT_EQ(search.arms()[1].fate, tune::Fate::kFailed);
}

TEST(RaceOrder, TimeThatIsUpKeepsWhatIsKnown) {
  auto runs = racing_cases(3);
  tune::Search search({"a", "b", "c"});
  int asked = 0;
  RaceOrder order(search, by_index, [&] { return ++asked > 2 ? 0.0 : 1.0; });
  const auto rounds = rounds_of(order, runs);
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].size(), 2U);
  EXPECT_TRUE(order.was_cut_short());
  EXPECT_EQ(std::ranges::count(search.arms(), 1U, &tune::Arm::rounds), 2);
}

TEST(RaceOrder, WhatAResumedRunHasCostsNoTime) {
  auto runs = racing_cases(2);
  for (auto& c : runs) c.ended = true;  // nothing of them is needed
  tune::Search search({"a", "b"});
  RaceOrder order(search, by_index, [] { return 0.0; });
  EXPECT_EQ(rounds_of(order, runs).size(), search.rules().enough);
  EXPECT_FALSE(order.was_cut_short());
}

TEST(RaceOrder, ExpectsThePassesToTheNextLook) {
  auto runs = racing_cases(2);
  tune::Search search({"a", "b"});
  RaceOrder order(search, by_index, never);
  EXPECT_EQ(order.expected(), 6U);
  std::size_t least = 100, passes = 0;
  rounds_of(order, runs, [&](const TimedSlot&) { ++passes, least = std::min(least, order.expected()); });
  EXPECT_EQ(least, 6U);
  EXPECT_EQ(order.expected(), passes);
}

}  // namespace
}  // namespace paceline::run
