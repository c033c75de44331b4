// SPDX-License-Identifier: MIT
#include "tune/search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "unit/tune/simulated_arms.h"

namespace paceline::tune {
namespace {

using answer::Verdict;

Constraint limit(Verdict verdict, double excess, bool exact = false) {
  return {"p99<=20ms", verdict, Number(excess), "24 ms", exact};
}

std::vector<Outcome> costs(const std::vector<double>& values) {
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < values.size(); ++i) outcomes.push_back(simulated::measured(i, values[i]));
  return outcomes;
}

TEST(Search, ArmsOfARoundFollowTheirKeys) {
  const Search search({"c", "a", "b"});
  EXPECT_EQ(search.next(), (std::vector<std::size_t>{1, 2, 0}));
}

TEST(Search, KeysAreUnique) {
  EXPECT_THROW(Search({"a", "a"}), Error);
  EXPECT_THROW(Search(std::vector<std::string>{}), Error);
}

TEST(Search, NothingIsDroppedBeforeTheFirstLook) {
  Search search({"a", "b"});
  search.take(costs({1, 9}));
  search.take(costs({1.01, 9.1}));
  EXPECT_EQ(search.next().size(), 2U);
  search.take(costs({1, 9}));
  EXPECT_EQ(search.arms()[1].fate, Fate::kDropped);
  EXPECT_EQ(search.arms()[1].rounds, 3U);
  EXPECT_GT(search.arms()[1].ratio->low, 1.03);
  EXPECT_NE(search.arms()[1].reason.find("of a"), std::string::npos);
}

// Student's t with 2 degrees of freedom at 0.05 / (1 * 4): 2 * 0.9875 - 1 two-sided is 0.975, t = 6.2053.
TEST(Search, TheIntervalIsThatOfTheLevelSpent) {
  Search search({"a", "b"});
  search.take(costs({1, 2}));
  search.take(costs({1, 2.2}));
  search.take(costs({1, 1.8}));
  const double d[] = {std::log(2.0), std::log(2.2), std::log(1.8)};
  const double centre = (d[0] + d[1] + d[2]) / 3;
  double squares = 0;
  for (const double one : d) squares += (one - centre) * (one - centre);
  const double half = 6.2053 * std::sqrt(squares / 2) / std::sqrt(3.0);
  const auto ratio = search.ratio(1, 0);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->low, std::exp(centre - half), 1e-3);
  EXPECT_NEAR(ratio->high, std::exp(centre + half), 1e-2);
}

TEST(Search, EqualArmsStayToTheEnd) {
  Search search({"a", "b"});
  std::size_t rounds = 0;
  for (; !search.next().empty(); ++rounds) search.take(costs({1, 1.01}));
  EXPECT_EQ(rounds, search.rules().looks.back());
  EXPECT_EQ(search.arms()[1].fate, Fate::kRacing);
}

TEST(Search, TheLastArmIsMeasuredUntilItIsKnownWellEnough) {
  Search search({"a", "b"});
  std::size_t processes = 0;
  for (auto round = search.next(); !round.empty(); round = search.next()) {
    processes += round.size();
    search.take(costs({1, 9}));
  }
  EXPECT_EQ(processes, 3U + search.rules().enough);
}

TEST(Search, AFailedArmCostsThatArmAlone) {
  Search search({"a", "b", "c"});
  auto outcomes = costs({1, 1, 1});
  outcomes[1].cost = Number::missing("killed");
  outcomes[1].failed = "killed by signal 11";
  search.take(outcomes);
  EXPECT_EQ(search.arms()[1].fate, Fate::kFailed);
  EXPECT_EQ(search.arms()[1].reason, "killed by signal 11");
  EXPECT_EQ(search.next(), (std::vector<std::size_t>{0, 2}));
}

TEST(Search, AnArmThatMissesAConstraintLeavesAtALook) {
  Search search({"a", "b"});
  auto outcomes = costs({1, 2});
  outcomes[0].constraints = {limit(Verdict::kNo, 0.2)};
  outcomes[1].constraints = {limit(Verdict::kYes, -0.5)};
  search.take(outcomes);
  EXPECT_EQ(search.arms()[0].fate, Fate::kRacing);
  search.take(outcomes);
  search.take(outcomes);
  EXPECT_EQ(search.arms()[0].fate, Fate::kMissed);
  EXPECT_EQ(search.arms()[0].reason, "misses p99<=20ms: 24 ms");
  EXPECT_EQ(search.arms()[1].fate, Fate::kRacing);  // not dropped for an arm that may not be taken
  EXPECT_EQ(search.best(), 1U);
}

TEST(Search, AnExactConstraintNeedsNoLook) {
  Search search({"a", "b"});
  auto outcomes = costs({1, 2});
  outcomes[0].constraints = {limit(Verdict::kNo, 0.2, true)};
  search.take(outcomes);
  EXPECT_EQ(search.arms()[0].fate, Fate::kMissed);
}

TEST(Search, CostsDropNothingUntilAnArmCertainlyMeetsAll) {
  Search search({"a", "b"});
  auto outcomes = costs({1, 9});
  for (auto& one : outcomes) one.constraints = {limit(Verdict::kCannotSay, -0.1)};
  for (int i = 0; i < 4; ++i) search.take(outcomes);
  EXPECT_EQ(search.next().size(), 2U);
  for (auto& one : outcomes) one.constraints = {limit(Verdict::kYes, -0.1)};
  search.take(outcomes);
  search.take(outcomes);
  EXPECT_EQ(search.arms()[1].fate, Fate::kDropped);
}

TEST(Search, ARoundWithoutAFigureIsNoPair) {
  Search search({"a", "b"});
  auto outcomes = costs({1, 2});
  outcomes[1].cost = Number::missing("too few samples");
  search.take(outcomes);
  EXPECT_FALSE(search.estimate(1, 0));
  search.take(costs({1, 2}));
  EXPECT_FALSE(search.ratio(1, 0));
  EXPECT_NEAR(*search.estimate(1, 0), 2, 1e-9);
}

TEST(Search, ASpoiledRoundDoesNotReplaceTheBest) {
  Search search({"a", "b"});
  for (const double noise : {1.0, 1.0, 1.0, 50.0, 1.0}) search.take(costs({noise, 1.02}));
  EXPECT_EQ(search.best(), 0U);
  EXPECT_NEAR(*search.estimate(1, 0), 1.02, 1e-9);
}

TEST(Search, WithoutAFigureItEndsAtTheFirstLook) {
  Search search({"a", "b"});
  for (std::size_t rounds = 0; !search.next().empty(); ++rounds) {
    ASSERT_LT(rounds, search.rules().looks.front());
    auto outcomes = costs({1, 1});
    for (auto& one : outcomes) one.cost = Number::missing("too few samples");
    search.take(outcomes);
  }
  EXPECT_EQ(search.rounds(), search.rules().looks.front());
  EXPECT_FALSE(search.best());
}

TEST(Search, EqualCostsAreDecidedByTheKey) {
  for (const auto& keys : {std::vector<std::string>{"a", "b"}, {"b", "a"}}) {
    Search search(keys);
    search.take(costs({1, 1}));
    EXPECT_EQ(search.arms()[*search.best()].key, "a");
  }
}

}  // namespace
}  // namespace paceline::tune
