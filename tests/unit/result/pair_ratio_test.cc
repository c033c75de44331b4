// SPDX-License-Identifier: MIT
#include "result/figures/pair_ratio.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "base/random.h"
#include "result/figures/summarize.h"

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
  if (!s.no_size.empty()) return true;  // no size is none that misses
  return *s.ratio.ci_low <= ratio && ratio <= *s.ratio.ci_high;
}

// Grades are C throughout: the ratio has an interval of its own.
TEST(PairRatio, ClaimsHoldOnDisturbedMachines) {
  for (const Machine& machine : std::array<Machine, 3>{bursty, drifting, heavy_tailed}) {
    EXPECT_LE(share([&](auto seed) {
                const auto verdict = compared(machine, 1, seed).verdict;
                return verdict == result::Speed::kFaster || verdict == result::Speed::kSlower;
              }),
              0.05);
    for (const double ratio : {1.0, 1.3})
      EXPECT_GE(share([&](auto seed) { return holds(compared(machine, ratio, seed), ratio); }), 0.95);
  }
}

TEST(PairRatio, SixPairsSufficeForThreeTenths) {
  for (const Machine& machine : std::array<Machine, 2>{drifting, heavy_tailed})
    EXPECT_GE(
        share([&](auto seed) { return compared(machine, 1.3, seed).verdict == result::Speed::kFaster; }),
        0.9);
}

// In one minute only one of the two meets the neighbour, in another both: what is not told apart is not
// claimed.
TEST(PairRatio, NothingIsInventedWhereTheNeighbourDecides) {
  EXPECT_EQ(share([](auto seed) { return compared(bursty, 1.3, seed).verdict == result::Speed::kSlower; }),
            0);
}

// Processes in two modes; `two` is the slow one in most.
std::pair<CaseResult, CaseResult> in_modes() {
  std::pair<CaseResult, CaseResult> sides{case_of("one"), case_of("two")};
  for (std::size_t r = 0; r < kPairs; ++r)
    for (auto* c : {&sides.first, &sides.second}) {
      const bool slow = c == &sides.second && r != 3;
      c->repetitions[r].index = static_cast<std::int64_t>(r);
      c->repetitions[r].p50_ns =
          (slow ? 6e6 : 1.9e6) * (c == &sides.second ? 1.05 : 1) * (1 + 0.01 * static_cast<double>(r));
    }
  return sides;
}

TEST(PairRatio, ModesLeaveTheDirectionAlone) {
  auto [one, two] = in_modes();
  compare_to_baseline(one, two, 0.95, 0.05);
  EXPECT_EQ(one.speedup.verdict, result::Speed::kFaster);
  EXPECT_EQ(one.speedup.reason, "");
  EXPECT_EQ(one.speedup.no_size, "the times of the processes differ too much");
  for (const auto& end : {one.speedup.ratio.value, one.speedup.ratio.ci_low, one.speedup.ratio.ci_high}) {
    EXPECT_FALSE(end);
    EXPECT_EQ(end.reason(), one.speedup.no_size);
  }
  EXPECT_TRUE(one.speedup.p_sign);
  EXPECT_EQ(no_claim_reason(one), "");
  two.repetitions[3].p50_ns = 1.8e6;
  compare_to_baseline(one, two, 0.95, 0.05);
  EXPECT_EQ(one.speedup.verdict, result::Speed::kNoClaim);
  EXPECT_EQ(no_claim_reason(one), "the times of the processes differ too much");
}

// Every median of `two` contains a wait for a CPU and no median of `one` does: all pairs say 10, and the work
// is as 1.05 to 1. Measured so beside six spinning processes.
TEST(PairRatio, MediansThatWaitedNeedMeansThatAgree) {
  CaseResult one = case_of("one"), two = case_of("two");
  const auto compared = [&](double median, double lost) {
    for (std::size_t r = 0; r < kPairs; ++r)
      for (auto* c : {&one, &two}) {
        auto& repetition = c->repetitions[r];
        const double work = c == &two ? 1.95e6 : 1.86e6, unlike = 1 + 0.004 * static_cast<double>(r % 3);
        repetition.index = static_cast<std::int64_t>(r);
        repetition.noise.runq_wait_frac = lost;
        repetition.p50_ns = (c == &two ? median * work : 1.01 * work) * unlike;
        repetition.mean_ns = work / (1 - lost) * (c == &two ? unlike : 1);
      }
    return pair_ratio(two, one, Figure::kLatency, {}, 0.95, 0.05);
  };
  const auto waited = compared(10, 0.86);
  EXPECT_EQ(waited.no_size, "the processes waited for CPUs, so medians and means differ");
  EXPECT_EQ(waited.reason, "");
  EXPECT_EQ(waited.found->verdict, stats::Verdict::kRegression);
  const auto computed = compared(1.01, 0.86);
  EXPECT_EQ(computed.no_size, "");
  EXPECT_NEAR(computed.found->estimate_ratio, 1.048, 0.002);
  EXPECT_EQ(compared(10, 0.04).no_size, "") << "nobody took that much time: the work is uneven";
  one.payload.emplace<Load>(), two.payload.emplace<Load>();
  EXPECT_EQ(compared(10, 0.86).no_size, "") << "requests wait for each other";
}

// The kernel counts a wait when it ends, so a short window may have more of them than time.
TEST(PairRatio, WaitsFromBeforeTheWindowAreNotThoseOfTheMedian) {
  CaseResult one = case_of("one"), two = case_of("two");
  for (std::size_t r = 0; r < kPairs; ++r)
    for (auto* c : {&one, &two}) {
      auto& repetition = c->repetitions[r];
      repetition.index = static_cast<std::int64_t>(r);
      repetition.p50_ns = (c == &two ? 1.05e6 : 1e6) * (1 + 0.001 * static_cast<double>(r));
      repetition.mean_ns = c == &two ? 16e6 : 10e6;
      repetition.noise.runq_wait_frac = 1.0;
    }
  const auto no_size = [&] { return pair_ratio(two, one, Figure::kLatency, {}, 0.95, 0.05).no_size; };
  EXPECT_NE(no_size(), "");
  for (auto& r : one.repetitions) r.noise.running_frac = 0.1;
  for (auto& r : two.repetitions) r.noise.running_frac = 0.066;
  EXPECT_EQ(no_size(), "");
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
  one.payload.emplace<Load>().invalid = {"generator_limited: 80 % of the requests were late"};
  EXPECT_EQ(reason(), "one: generator_limited: 80 % of the requests were late");
  one.payload = {};
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
