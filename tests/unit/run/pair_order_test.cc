// SPDX-License-Identifier: MIT
#include "run/pair_order.h"

#include <gtest/gtest.h>

#include <map>

#include "run/case/case_run.h"

// Rounds of the two cases of each pair.
namespace paceline::run {
namespace {

using stats::Verdict;

CaseRuns cases(std::size_t count) {
  CaseRuns runs(count);
  for (std::size_t i = 0; i < count; ++i) runs[i].index = i;
  return runs;
}

std::vector<TimedRound> all_rounds(PairOrder& order, CaseRuns& runs,
                                   const std::function<void(std::size_t)>& after = {}) {
  std::vector<TimedRound> rounds;
  while (const auto proposal = order.next(runs)) {
    rounds.push_back(std::get<TimedRound>(*proposal));
    if (after) after(rounds.size());
  }
  return rounds;
}

TEST(PairOrder, EveryRoundHasBothAndEverySecondOneIsReversed) {
  auto runs = cases(4);
  PairOrder order({{0, 2}, {1, 3}}, 6, 1, [](const auto&, const auto&) { return Verdict::kEquivalent; });
  EXPECT_EQ(order.expected(), 24U);
  const auto rounds = all_rounds(order, runs);
  ASSERT_EQ(rounds.size(), 12U);
  std::map<std::size_t, std::vector<std::size_t>> firsts;  // by pair, of each repetition
  for (const auto& round : rounds) {
    ASSERT_EQ(round.slots.size(), 2U);
    const auto a = round.slots[0], b = round.slots[1];
    EXPECT_EQ(std::max(a.case_index, b.case_index) - std::min(a.case_index, b.case_index), 2U);
    EXPECT_EQ(a.repetition, b.repetition);
    firsts[a.case_index % 2].push_back(a.case_index);
  }
  for (const auto& [pair, first] : firsts)
    for (std::size_t r = 0; r < first.size(); r += 2) EXPECT_NE(first[r], first[r + 1]) << pair;
}

TEST(PairOrder, BlocksBeginWithEitherSide) {
  auto runs = cases(2);
  PairOrder order({{0, 1}}, 64, 3, [](const auto&, const auto&) { return Verdict::kEquivalent; });
  int with_a = 0, blocks = 0;
  for (const auto& round : all_rounds(order, runs))
    if (round.slots[0].repetition % 2 == 0) ++blocks, with_a += round.slots[0].case_index == 0;
  EXPECT_EQ(blocks, 32);
  EXPECT_GT(with_a, 8);
  EXPECT_LT(with_a, 24);
}

TEST(PairOrder, AsManyPairsFollowOnceForThoseThatAreNotDecided) {
  auto runs = cases(4);
  PairOrder order({{0, 1}, {2, 3}}, 6, 1, [](const CaseRun& a, const CaseRun&) {
    return a.index == 0 ? Verdict::kInconclusive : Verdict::kRegression;
  });
  const auto rounds = all_rounds(order, runs);
  EXPECT_EQ(rounds.size(), 6U + 6U + 6U);
  EXPECT_LT(rounds.back().slots[0].case_index, 2U);
  EXPECT_EQ(rounds.back().slots[0].repetition, 11);
}

TEST(PairOrder, ACaseThatFailsEndsItsPairAlone) {
  auto runs = cases(4);
  PairOrder order({{0, 1}, {2, 3}}, 6, 1, [](const auto&, const auto&) { return Verdict::kInconclusive; });
  const auto rounds = all_rounds(order, runs, [&](std::size_t) {
    runs[1].ended = true;
    runs[1].result.outcome = result::Outcome::kFailed;
  });
  EXPECT_EQ(rounds.size(), 1U + 6U + 6U);
}

TEST(PairOrder, LayersAreAskedOfWhatIsNotEqual) {
  auto runs = cases(4);
  PairOrder order({{0, 1}, {2, 3}}, 6, 1, [](const CaseRun& a, const CaseRun&) {
    return a.index == 0 ? Verdict::kEquivalent : Verdict::kRegression;
  });
  all_rounds(order, runs);
  EXPECT_FALSE(order.asks_layers(runs[0]));
  EXPECT_FALSE(order.asks_layers(runs[1]));
  EXPECT_TRUE(order.asks_layers(runs[2]));
  EXPECT_TRUE(order.asks_layers(runs[3]));
}

}  // namespace
}  // namespace paceline::run
