// SPDX-License-Identifier: MIT
#include "result/figures/pairing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "result/figures/summarize.h"
#include "result/judged/training_scaling.h"

namespace paceline::result {
namespace {

// Six repetitions that began at these minutes after midnight.
CaseResult measured_at(const char* id, const std::vector<int>& minutes, double p50_ns = 1e7) {
  CaseResult one;
  one.case_id = one.label = id;
  for (std::size_t i = 0; i < minutes.size(); ++i) {
    Repetition r;
    r.index = static_cast<std::int64_t>(i);
    r.started_utc = fmt::format("2026-11-22T{:02}:{:02}:00Z", minutes[i] / 60, minutes[i] % 60);
    r.p50_ns = p50_ns * (1 + 0.001 * static_cast<double>(i));
    one.repetitions.push_back(r);
  }
  return one;
}

const std::vector<int> kFirst{0, 3, 4, 7, 8, 11}, kSecond{1, 2, 5, 6, 9, 10}, kLater{60, 61, 62, 63, 64, 65};

// Nothing says that repetitions of two runs ran as neighbours.
TEST(Pairing, RunsWithoutStartTimesAreApart) {
  auto a = measured_at("a", kFirst), b = a;
  for (auto* one : {&a, &b})
    for (auto& r : one->repetitions) r.started_utc.clear();
  EXPECT_EQ(pair_repetitions(a, b, {}).neighbours.size(), 6U);
  b.run_id = "another";
  EXPECT_EQ(pair_repetitions(a, b, {}).apart, 6);
}

// Starts are whole seconds: quick runs one after the other must not look like turns.
TEST(Pairing, QuickRunsOneAfterTheOtherAreApart) {
  auto a = measured_at("a", {5, 5, 5, 5, 5, 5}), b = measured_at("b", {6, 6, 6, 6, 6, 6});
  a.run_id = "first", b.run_id = "second";
  EXPECT_EQ(pair_repetitions(a, b, {}).apart, 6);
  EXPECT_FALSE(in_turns(a, b, {}));
  auto turns = measured_at("a", kFirst), others = measured_at("b", kSecond);
  turns.run_id = "first", others.run_id = "second";
  EXPECT_EQ(pair_repetitions(turns, others, {}).neighbours.size(), 6U);
}

TEST(Pairing, InterleavedRepetitionsAreNeighbours) {
  const auto a = measured_at("a", kFirst), b = measured_at("b", kSecond);
  const auto pairing = pair_repetitions(a, b, {});
  EXPECT_EQ(pairing.neighbours.size(), 6U);
  EXPECT_EQ(pairing.apart, 0);
  EXPECT_TRUE(in_turns(a, b, {}));
}

TEST(Pairing, ACaseThatWasMeasuredAgainByItselfHasNoPairs) {
  const auto again = measured_at("a", kLater), b = measured_at("b", kSecond);
  EXPECT_TRUE(pair_repetitions(again, b, {}).neighbours.empty());
  EXPECT_EQ(pair_repetitions(again, b, {}).apart, 6);
  EXPECT_FALSE(in_turns(again, b, {}));
}

// The run was killed between the two processes of its fourth round and went on an hour later.
TEST(Pairing, AResumeBetweenThemDividesAPair) {
  const auto a = measured_at("a", {0, 3, 4, 7, 70, 73}), b = measured_at("b", {1, 2, 5, 68, 71, 72});
  EXPECT_EQ(pair_repetitions(a, b, {}).apart, 0);
  const auto pairing = pair_repetitions(a, b, {"2026-11-22T01:07:00Z"});
  EXPECT_EQ(pairing.apart, 1);
  EXPECT_EQ(pairing.neighbours.size(), 5U);
  EXPECT_TRUE(in_turns(a, b, {"2026-11-22T01:07:00Z"}));
}

TEST(SpeedUp, RepetitionsApartInTimeAreNoPairsAndTheReasonSaysSo) {
  auto fast = measured_at("fast", kLater, 5e6);
  const auto base = measured_at("base", kSecond);
  compare_to_baseline(fast, base);
  EXPECT_EQ(fast.speedup.pairs, 0);
  EXPECT_EQ(fast.speedup.pairs_apart, 6);
  EXPECT_FALSE(fast.speedup.ratio.value);
  EXPECT_EQ(fast.speedup.verdict, result::Speed::kNoClaim);
  EXPECT_EQ(no_claim_reason(fast),
            "6 of 6 repetitions of the two cases did not run as neighbours in time, so they are no pairs; "
            "measure both cases again together");
  auto together = measured_at("together", kFirst, 5e6);
  compare_to_baseline(together, base);
  EXPECT_EQ(together.speedup.verdict, result::Speed::kFaster);
  EXPECT_EQ(no_claim_reason(together), "");
}

TEST(SpeedUp, SixPairsThatAreLeftStillClaim) {
  std::vector<int> first{0, 3, 4, 7, 8, 11, 12}, second{1, 2, 5, 6, 9, 10, 90};
  auto fast = measured_at("fast", first, 5e6);
  compare_to_baseline(fast, measured_at("base", second), 0.95, 0.03, {"2026-11-22T01:20:00Z"});
  EXPECT_EQ(fast.speedup.pairs, 6);
  EXPECT_EQ(fast.speedup.pairs_apart, 1);
  EXPECT_EQ(fast.speedup.verdict, result::Speed::kFaster);
}

TEST(SpeedUp, AReasonStandsWhereNothingIsClaimed) {
  auto few = measured_at("few", {0, 3, 4}, 5e6);
  compare_to_baseline(few, measured_at("base", {1, 2, 5}));
  EXPECT_EQ(no_claim_reason(few), "fewer than six pairs of processes");
  auto noisy = measured_at("noisy", kFirst, 5e6);
  noisy.grade = Grade::kC;
  compare_to_baseline(noisy, measured_at("base", kSecond));
  EXPECT_EQ(no_claim_reason(noisy), "");  // the ratio has an interval of its own
  EXPECT_EQ(noisy.speedup.verdict, result::Speed::kFaster);
}

TEST(TrainingScaling, WorldsThatDidNotRunInTurnsHaveNoInterval) {
  const auto world = [](std::int64_t ranks, const std::vector<int>& minutes) {
    auto one = measured_at("w", minutes);
    one.case_id += std::to_string(ranks);
    one.benchmark.world_size = ranks;
    one.payload.emplace<Training>();
    one.headline = {kBetweenProcess, {1e7, 0.99e7, 1.01e7, 0.95, ""}, {}, {}};
    return one;
  };
  auto one = world(1, kFirst), two = world(2, kSecond), later = world(2, kLater);
  compare_scaling({&one, &two});
  EXPECT_TRUE(two.scaling.value().ci_low);
  compare_scaling({&one, &later});
  EXPECT_FALSE(later.scaling.value().ci_low);
  EXPECT_NE(later.scaling.value().ci_low.reason().find("neighbours in time"), std::string::npos);
}

}  // namespace
}  // namespace paceline::result
