// SPDX-License-Identifier: MIT
#include "result/pair_ratio.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "base/random.h"
#include "result/summarize.h"

namespace paceline::result {
namespace {

constexpr int kPairs = 6, kComparisons = 2000;

// How a disturbed machine stretches the time of the process that runs in slot 0 to 11.
using Machine = std::function<double(const CounterRng&, std::uint64_t slot)>;

// A neighbour comes and goes, and stays for some processes on average.
double bursty(const CounterRng& random, std::uint64_t slot) {
  bool busy = random.uniform(1000) < 0.5;
  for (std::uint64_t i = 0; i <= slot; ++i)
    if (random.uniform(100 + i) < 0.25) busy = !busy;
  return (busy ? 1.5 : 1.0) * std::exp(0.03 * random.normal(200 + slot));
}

// The machine slows down by a half over the run.
double drifting(const CounterRng& random, std::uint64_t slot) {
  return (1 + 0.5 * static_cast<double>(slot) / 11) * std::exp(0.03 * random.normal(200 + slot));
}

// Most processes are stretched a little, some a lot.
double heavy_tailed(const CounterRng& random, std::uint64_t slot) {
  return std::pow(1 - random.uniform(200 + slot), -1.0 / 20);
}

CaseResult case_of(const char* id) {
  CaseResult one;
  one.case_id = one.label = id;
  one.grade = Grade::kC;
  one.headline.scope = kBetweenProcess;
  one.repetitions.resize(kPairs);
  return one;
}

// The verdict about a case that takes 1 / `ratio` of the baseline's time; rounds run as the coordinator
// orders them: at random, then backwards.
SpeedUp compared(const Machine& machine, double ratio, std::uint64_t seed) {
  const CounterRng random(seed, 77);
  CaseResult base = case_of("base"), one = case_of("one");
  bool base_first = true;
  std::uint64_t slot = 0;
  for (int r = 0; r < kPairs; ++r) {
    base_first = r % 2 == 1 ? !base_first : random.uniform(static_cast<std::uint64_t>(r)) < 0.5;
    for (const bool is_base : {base_first, !base_first}) {
      auto& repetition = (is_base ? base : one).repetitions.at(static_cast<std::size_t>(r));
      repetition.index = r;
      repetition.p50_ns = 1e6 * (is_base ? ratio : 1) * machine(random, slot++);
    }
  }
  compare_to_baseline(one, base, 0.95, 0.05);
  return one.speedup;
}

double share(const std::function<bool(std::uint64_t)>& event) {
  int count = 0;
  for (std::uint64_t seed = 1; seed <= kComparisons; ++seed) count += event(seed) ? 1 : 0;
  return static_cast<double>(count) / kComparisons;
}

bool holds(const SpeedUp& s, double ratio) {
  return *s.ratio.ci_low <= ratio && ratio <= *s.ratio.ci_high;
}

// Grades are C throughout: the ratio has an interval of its own.
TEST(PairRatio, ClaimsHoldOnDisturbedMachines) {
  for (const Machine& machine : std::array<Machine, 3>{bursty, drifting, heavy_tailed}) {
    EXPECT_LE(share([&](auto seed) {
                const auto verdict = compared(machine, 1, seed).verdict;
                return verdict == "faster" || verdict == "slower";
              }),
              0.05);
    for (const double ratio : {1.0, 1.3})
      EXPECT_GE(share([&](auto seed) { return holds(compared(machine, ratio, seed), ratio); }), 0.95);
  }
}

TEST(PairRatio, SixPairsSufficeForThreeTenths) {
  for (const Machine& machine : std::array<Machine, 2>{drifting, heavy_tailed})
    EXPECT_GE(share([&](auto seed) { return compared(machine, 1.3, seed).verdict == "faster"; }), 0.9);
}

// In one minute only one of the two meets the neighbour, in another both: what is not told apart is not
// claimed.
TEST(PairRatio, NothingIsInventedWhereTheNeighbourDecides) {
  EXPECT_EQ(share([](auto seed) { return compared(bursty, 1.3, seed).verdict == "slower"; }), 0);
}

TEST(PairRatio, FewerThanSixPairsAndDistortedTimesClaimNothing) {
  CaseResult base = case_of("base"), one = case_of("one");
  const auto reason = [&] { return pair_ratio(base, one, Figure::kLatency, {}, 0.95, 0.05).reason; };
  for (int r = 0; r < kPairs; ++r)
    for (auto* c : {&base, &one}) {
      auto& repetition = c->repetitions.at(static_cast<std::size_t>(r));
      repetition.index = r;
      repetition.p50_ns = c == &base ? 2e6 : 1e6;
    }
  EXPECT_EQ(reason(), "");
  one.noise.instrument = "gdb";
  EXPECT_EQ(reason(), "one was measured under gdb");
  one.noise.instrument.clear();
  one.load.emplace().invalid = {"generator_limited: 80 % of the requests were late"};
  EXPECT_EQ(reason(), "one: generator_limited: 80 % of the requests were late");
  one.load.reset();
  base.repetitions.pop_back();
  EXPECT_EQ(reason(), "fewer than six pairs of processes");
}

TEST(PairRatio, RatesComeFromTheTimesOfTheRepetitions) {
  CaseResult small = case_of("b1"), large = case_of("b8");
  small.throughput.per_s.value = 100.0;
  large.throughput.per_s.value = 160.0;
  for (int r = 0; r < kPairs; ++r) {
    const double load = 1 + 0.3 * r;  // both meet it
    small.repetitions.at(static_cast<std::size_t>(r)).mean_ns = 1e7 * load;
    large.repetitions.at(static_cast<std::size_t>(r)).mean_ns = 5e7 * load;
    for (auto* one : {&small, &large}) one->repetitions.at(static_cast<std::size_t>(r)).index = r;
  }
  const auto ratio = pair_ratio(large, small, Figure::kRate, {}, 0.95, 0.05);
  EXPECT_EQ(ratio.reason, "");
  EXPECT_NEAR(ratio.found->ci_ratio->low, 1.6, 1e-9);
  EXPECT_NEAR(ratio.found->ci_ratio->high, 1.6, 1e-9);
}

TEST(PairRatio, ALatencyIsNotComparedWithTheTimeOfABlock) {
  CaseResult base = case_of("base"), one = case_of("one");
  for (auto* both : {&base, &one})
    for (int r = 0; r < kPairs; ++r) both->repetitions.at(static_cast<std::size_t>(r)).p50_ns = 1e6;
  one.benchmark.timing_mode = "pipelined";
  compare_to_baseline(one, base, 0.95, 0.05);
  EXPECT_FALSE(one.speedup.ratio.value);
  EXPECT_EQ(one.speedup.reason, "the time of an inference in a block is no latency");
  EXPECT_EQ(one.speedup.pairs, 0);
}

}  // namespace
}  // namespace paceline::result
