// SPDX-License-Identifier: MIT
#include "tune/conclusion.h"

#include <gtest/gtest.h>

#include <functional>

#include "unit/tune/simulated_arms.h"

namespace paceline::tune {
namespace {

using answer::Verdict;

const Number kNone = Number::missing("not measured");

Search raced(const std::vector<double>& costs, int rounds,
             const std::vector<std::vector<Constraint>>& constraints = {}) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < costs.size(); ++i) keys.push_back(std::string(1, static_cast<char>('a' + i)));
  Search search(keys);
  for (int r = 0; r < rounds; ++r) {
    std::vector<Outcome> outcomes;
    for (const auto i : search.next()) {
      auto& outcome =
          outcomes.emplace_back(simulated::measured(i, costs[i] * (1 + 0.001 * r * static_cast<double>(i))));
      if (!constraints.empty()) outcome.constraints = constraints[i];
    }
    search.take(outcomes);
  }
  return search;
}

TEST(Conclusion, OneArmIsAheadOfAllOthers) {
  const auto found = conclude(raced({2, 1, 3}, 6), {kNone, kNone, kNone});
  EXPECT_EQ(found.found, Found::kBest);
  EXPECT_EQ(found.arm, 1U);
  ASSERT_TRUE(found.ahead);
  EXPECT_NEAR(*found.ahead, 2, 0.05);
}

TEST(Conclusion, OfEqualArmsTheOneWithTheLeastMemoryIsTaken) {
  const auto search = raced({1, 1.005, 1.01, 2}, 10);
  const auto found = conclude(search, {Number(300), Number(100), Number(102), Number(1)});
  EXPECT_EQ(found.found, Found::kEqual);
  EXPECT_EQ(found.equals, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(found.arm, 1U);  // 102 is as much as 100, and its cost is lower
  EXPECT_EQ(conclude(search, {kNone, kNone, kNone, kNone}).arm, 0U);
  const std::vector<Number> memory{Number(300), Number(100), Number(102), Number(1)};
  EXPECT_EQ(conclude(search, memory, {true, false, true, true}).arm, 2U) << "verified, with the least memory";
  EXPECT_EQ(conclude(search, memory, {false, false, false, true}).arm, conclude(search, memory).arm)
      << "a verified one that costs more is no reason";
}

TEST(Conclusion, TooFewRoundsAreNoComparison) {
  const auto found = conclude(raced({2, 1}, 2), {kNone, kNone});
  EXPECT_EQ(found.found, Found::kUncertain);
  EXPECT_EQ(found.arm, 1U);
  EXPECT_FALSE(cost_over_best(raced({2, 1}, 2), 0));  // it would reach from nothing to everything
  EXPECT_TRUE(cost_over_best(raced({2, 1}, 3), 0));
  EXPECT_EQ(conclude(raced({2, 1}, 0), {kNone, kNone}).found, Found::kNothing);
}

TEST(Conclusion, WithoutAFeasibleArmTheNearestIsNamed) {
  const auto missed = [](double excess) {
    return std::vector{Constraint{"p99<=20ms", Verdict::kNo, Number(excess), "", false}};
  };
  const auto found =
      conclude(raced({1, 2, 3}, 3, {missed(0.5), missed(0.2), missed(0.9)}), {kNone, kNone, kNone});
  EXPECT_EQ(found.found, Found::kInfeasible);
  EXPECT_EQ(found.arm, 1U);
  EXPECT_NEAR(*found.missed_by, 0.2, 1e-12);
}

TEST(Conclusion, TheLimitWithTheLargestExcessIsNamed) {
  const std::vector missed{Constraint{"p50<=9ms", Verdict::kNo, Number(0.1), "", false},
                           Constraint{"top1_agreement >= 0.9", Verdict::kNo, Number(0.4), "", false}};
  const auto found = conclude(raced({1}, 3, {missed}), {kNone});
  EXPECT_EQ(found.found, Found::kInfeasible);
  EXPECT_EQ(found.missed, 1U);
  EXPECT_NEAR(*found.missed_by, 0.4, 1e-12);
}

TEST(Conclusion, AConstraintThatIsOpenLeavesTheArmUncertain) {
  const std::vector open{Constraint{"p99<=20ms", Verdict::kCannotSay, Number(-0.01), "", false}};
  EXPECT_EQ(conclude(raced({1, 2}, 10, {open, open}), {kNone, kNone}).found, Found::kUncertain);
}

TEST(Conclusion, ADroppedArmKeepsTheIntervalThatDroppedIt) {
  Search search({"a", "b", "c"});
  for (const double noise :
       {1.0, 1.01, 1.0, 40.0, 1.0, 1.01})  // one round of the best is spoiled after the look
    search.take({simulated::measured(0, noise), simulated::measured(1, 2), simulated::measured(2, 3)});
  ASSERT_EQ(search.arms()[1].fate, Fate::kDropped);
  ASSERT_EQ(search.arms()[1].rounds, 3U);
  EXPECT_EQ(search.arms()[1].over, 0U);
  const auto kept = cost_over_best(search, 1);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, *search.arms()[1].ratio);
  EXPECT_GT(kept->low, 1.8);
  EXPECT_FALSE(cost_over_best(search, *search.best()));
}

// "a" leads until the round in which it leaves the race.
Search left_by_its_leader(std::size_t leaves_in, std::size_t rounds,
                          const std::function<void(Outcome&)>& leave) {
  Search search({"a", "b", "c"});
  for (std::size_t r = 0; r < rounds && !search.next().empty(); ++r) {
    std::vector<Outcome> outcomes;
    for (const auto i : search.next()) {
      const double noise = 1 + 0.001 * static_cast<double>((r * (i + 1)) % 3);
      outcomes.push_back(simulated::measured(i, static_cast<double>(i + 1) * noise));
      outcomes.back().constraints = {{"p99<=20ms", Verdict::kYes, Number(-0.5), "10 ms", false}};
      if (i == 0 && r + 1 >= leaves_in) leave(outcomes.back());
    }
    search.take(outcomes);
  }
  return search;
}

void crash(Outcome& outcome) {
  outcome.cost = kNone;
  outcome.failed = "killed by signal 11";
}

void miss(Outcome& outcome) {
  outcome.constraints = {{"p99<=20ms", Verdict::kNo, Number(0.2), "24 ms", false}};
}

TEST(Conclusion, AnArmThatWasDroppedIsTakenWhenTheLeaderLeaves) {
  for (const auto& leave : {crash, miss}) {
    EXPECT_EQ(left_by_its_leader(4, 3, leave).arms()[1].fate, Fate::kDropped);
    const auto search = left_by_its_leader(4, 10, leave);
    const auto found = conclude(search, {kNone, kNone, kNone});
    EXPECT_EQ(found.found, Found::kBest);
    EXPECT_EQ(found.arm, 1U);
    EXPECT_EQ(search.arms()[2].fate, Fate::kDropped);
    EXPECT_EQ(search.arms()[2].over, 1U);
  }
}

TEST(Conclusion, AnArmThatComesBackAtTheEndIsUncertain) {
  for (const auto& leave : {crash, miss}) {
    const auto found = conclude(left_by_its_leader(6, 6, leave), {kNone, kNone, kNone});
    EXPECT_EQ(found.found, Found::kUncertain);
    EXPECT_EQ(found.arm, 1U);
    EXPECT_EQ(conclude(left_by_its_leader(6, 10, leave), {kNone, kNone, kNone}).found, Found::kBest);
  }
}

TEST(Conclusion, AnArmWithoutAFigureMayBeTheBest) {
  Search search({"a", "b", "c"});
  for (int r = 0; r < 6; ++r) {
    Outcome without;
    without.arm = 2, without.cost = Number::missing("p99 of a process needs 100 samples");
    search.take({simulated::measured(0, 1 + 0.001 * r), simulated::measured(1, 2), without});
  }
  EXPECT_EQ(conclude(search, {kNone, kNone, kNone}).found, Found::kUncertain);
  EXPECT_EQ(uncompared(search), 2U);
  Outcome crashed;
  crashed.arm = 2, crash(crashed);
  search.take({simulated::measured(0, 1), crashed});
  EXPECT_EQ(conclude(search, {kNone, kNone, kNone}).found, Found::kBest);
  EXPECT_FALSE(uncompared(search));
}

TEST(Conclusion, TheLeadIsOverArmsThatCanBeTaken) {
  const std::vector missed{Constraint{"p99<=20ms", Verdict::kNo, Number(0.2), "", false}};
  const auto found = conclude(raced({2, 0.14, 6}, 6, {{}, missed, {}}), {kNone, kNone, kNone});
  EXPECT_EQ(found.found, Found::kBest);
  ASSERT_TRUE(found.ahead);
  EXPECT_NEAR(*found.ahead, 3, 0.05);
  EXPECT_FALSE(conclude(raced({2, 0.14}, 6, {{}, missed}), {kNone, kNone}).ahead);
}

TEST(ParetoFront, HasWhatNothingBeatsInBoth) {
  EXPECT_EQ(pareto_front({Number(3), Number(1), Number(2), Number(2), kNone},
                         {Number(1), Number(9), Number(5), Number(6), Number(0)}),
            (std::vector<std::size_t>{1, 2, 0}));
}

}  // namespace
}  // namespace paceline::tune
