// SPDX-License-Identifier: MIT
// How often a size or a direction is claimed falsely where other processes decide much of the time of ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "series.h"
#include "stats/compare.h"

namespace paceline::stats {
namespace {

// A process in slot 0, 1, 2 … of a run; the two of a pair are neighbours.
struct Place {
  std::uint64_t slot = 0, pair = 0;
  bool heavy = false;  // the side with more work
  int slots = 0;
};

// Factors by which the median and the mean time of the process exceed those of its work.
struct Stretch {
  double median = 1, mean = 1;
};
using Machine = std::function<Stretch(const CounterRng&, const Place&)>;

constexpr double kSlow = 3, kWithin = 0.03;

double noise(const CounterRng& random, const Place& at, double sd) {
  return std::exp(sd * random.normal(5000 + at.slot));
}
Stretch both(double factor) {
  return {factor, factor};
}

Machine spread_by(double sd) {
  return [=](const auto& random, const auto& at) { return both(noise(random, at, sd)); };
}
Machine modes_of(double share, double slow) {
  return [=](const auto& random, const auto& at) {
    return both((random.uniform(1000 + at.slot) < share ? slow : 1) * noise(random, at, kWithin));
  };
}
// The mode changes from one process to the next with this probability.
Machine staying_modes(double change) {
  return [=](const auto& random, const auto& at) {
    bool slow = random.uniform(1000) < 0.5;
    for (std::uint64_t i = 0; i < at.slot; ++i) slow ^= random.uniform(1001 + i) < change;
    return both((slow ? kSlow : 1) * noise(random, at, kWithin));
  };
}
// The two of a pair have the same mode, except for one process in ten.
Stretch modes_of_pairs(const CounterRng& random, const Place& at) {
  bool slow = random.uniform(1000 + at.pair) < 0.5;
  slow ^= random.uniform(2000 + at.slot) < 0.1;
  return both((slow ? kSlow : 1) * noise(random, at, kWithin));
}
Machine drifting_by(double total) {
  return [=](const auto& random, const auto& at) {
    return both((1 + total * static_cast<double>(at.slot) / (at.slots - 1)) * noise(random, at, kWithin));
  };
}
// From some process on everything takes three times as long.
Stretch stepping(const CounterRng& random, const Place& at) {
  const auto from = random.below(999, static_cast<std::uint64_t>(at.slots));
  return both((at.slot >= from ? kSlow : 1) * noise(random, at, kWithin));
}
// The scheduler's slice lies between the two sides: the median inference of the heavy side waits in most
// processes, that of the other in few, and the mean has the same share of waits on both sides.
Machine sliced(double light, double heavy) {
  return [=](const auto& random, const auto& at) {
    const bool waits = random.uniform(1000 + at.slot) < (at.heavy ? heavy : light);
    return Stretch{(waits ? kSlow : 1) * noise(random, at, kWithin),
                   7 * std::exp(0.05 * random.normal(7000 + at.slot))};
  };
}

struct Setting {
  std::string name;
  Machine machine;
  bool waits = false;  // medians contain waits, so that means have to agree
};
const std::vector<Setting>& settings() {
  static const std::vector<Setting> all{{"quiet, 0.3 %", spread_by(0.003)},
                                        {"quiet, 2 %", spread_by(0.02)},
                                        {"processes vary by 5 %", spread_by(0.05)},
                                        {"by 10 %", spread_by(0.1)},
                                        {"by 20 %", spread_by(0.2)},
                                        {"by 40 %", spread_by(0.4)},
                                        {"by 60 %", spread_by(0.6)},
                                        {"half of them take 3 times as long", modes_of(0.5, kSlow)},
                                        {"one in ten takes 3 times as long", modes_of(0.1, kSlow)},
                                        {"half of them take 1.3 times as long", modes_of(0.5, 1.3)},
                                        {"slow periods of 10 processes", staying_modes(0.1)},
                                        {"slow periods of 4 processes", staying_modes(0.25)},
                                        {"slow pairs", modes_of_pairs},
                                        {"half as slow again at the end", drifting_by(0.5)},
                                        {"3 times as slow at the end", drifting_by(2)},
                                        {"3 times as slow from some process on", stepping},
                                        {"the scheduler's slice between the sides", sliced(0.1, 0.9), true},
                                        {"the slice nearer to one side", sliced(0.1, 0.5), true},
                                        {"all of one side beyond the slice", sliced(0, 1), true}};
  return all;
}

struct Side {
  std::vector<double> medians, means;
};
struct Run {
  Side light, heavy;
};

// Rounds as the coordinator orders them: at random, then backwards.
Run draw(const Machine& machine, double ratio, int pairs, std::uint64_t seed) {
  const CounterRng random(seed, 77);
  Run run;
  bool light_first = true;
  std::uint64_t slot = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto number = static_cast<std::uint64_t>(pair);
    light_first = pair % 2 == 1 ? !light_first : random.uniform(number) < 0.5;
    for (const bool light : {light_first, !light_first}) {
      const auto [median, mean] = machine(random, {slot++, number, !light && ratio > 1, 2 * pairs});
      Side& side = light ? run.light : run.heavy;
      side.medians.push_back(1e6 * (light ? 1 : ratio) * median);
      side.means.push_back(1e6 * (light ? 1 : ratio) * mean);
    }
  }
  return run;
}

Comparison judged(const Setting& setting, const Run& run, int pairs) {
  const auto first = [&](const std::vector<double>& all) {
    return std::span(all).first(static_cast<std::size_t>(pairs));
  };
  const CompareConfig config{.delta = 0.05, .aa_halfwidth = {}};
  const auto medians = compare_pairs(first(run.light.medians), first(run.heavy.medians), config);
  if (!setting.waits) return medians;
  return held_against(medians, compare_pairs(first(run.light.means), first(run.heavy.means), config), config);
}

// Twice the pairs, once, where the first ones allow no size.
Comparison claimed(const Setting& setting, double ratio, int pairs, std::uint64_t seed) {
  const auto run = draw(setting.machine, ratio, 2 * pairs, seed);
  const auto first = judged(setting, run, pairs);
  return first.no_size.empty() ? first : judged(setting, run, 2 * pairs);
}

int runs_of_study() {
  const char* asked = std::getenv("HEAVY_LOAD_STUDY");
  return asked ? std::atoi(asked) : 200;
}

struct HeavyRates {
  double sizes = 0, missed = 0, right_way = 0, wrong_way = 0;  // shares of the comparisons
};
HeavyRates heavy_rates_of(const Setting& setting, double ratio, int pairs) {
  const int runs = runs_of_study();
  int sizes = 0, missed = 0, slower = 0, faster = 0;
  for (int seed = 1; seed <= runs; ++seed) {
    const auto c = claimed(setting, ratio, pairs, static_cast<std::uint64_t>(seed));
    if (!c.reason.empty()) ADD_FAILURE() << c.reason;
    sizes += c.ci_ratio ? 1 : 0;
    missed += c.ci_ratio && (c.ci_ratio->low > ratio || c.ci_ratio->high < ratio) ? 1 : 0;
    slower += c.verdict == Verdict::kRegression ? 1 : 0;
    faster += c.verdict == Verdict::kImprovement ? 1 : 0;
  }
  const auto share = [&](int count) { return static_cast<double>(count) / runs; };
  return {share(sizes), share(missed), share(slower), share(faster)};
}

// The figures of docs/benchmarks.md, simulations in the tests.
TEST(HeavyLoad, SizesAndDirectionsHold) {
  const double at_most = 0.05 + series::tolerance(0.05, runs_of_study());
  for (const auto& setting : settings())
    for (const int pairs : {6, 8, 10, 12}) {
      for (const double ratio : {1.05, 1.1, 1.5}) {
        const auto seen = heavy_rates_of(setting, ratio, pairs);
        std::printf("%-42s %2d pairs, %.2f: size in %5.1f %%, wrong in %4.1f %%, direction in %5.1f %%\n",
                    setting.name.c_str(), pairs, ratio, seen.sizes * 100, seen.missed * 100,
                    seen.right_way * 100);
        EXPECT_LE(seen.missed, at_most) << setting.name << " " << pairs << " " << ratio;
        EXPECT_LE(seen.wrong_way, 0.025 + series::tolerance(0.025, runs_of_study()))
            << setting.name << " " << pairs << " " << ratio;
        if (seen.sizes > 0.1) {
          EXPECT_LE(seen.missed / seen.sizes, 0.055 + series::tolerance(0.055, runs_of_study() / 10))
              << setting.name << " " << pairs << " " << ratio;
        }
      }
      const auto equal = heavy_rates_of(setting, 1, pairs);
      std::printf("%-42s %2d pairs, equal: told apart in %4.1f %%\n", setting.name.c_str(), pairs,
                  (equal.right_way + equal.wrong_way) * 100);
      EXPECT_LE(equal.right_way + equal.wrong_way, at_most) << setting.name << " " << pairs;
    }
}

TEST(HeavyLoad, QuietMachinesKeepTheirSizes) {
  for (const auto& setting : settings()) {
    if (!setting.name.starts_with("quiet") && !setting.name.starts_with("processes vary by 5 %")) continue;
    EXPECT_GE(heavy_rates_of(setting, 1.1, 6).sizes, 0.995) << setting.name;
    EXPECT_GE(heavy_rates_of(setting, 1.5, 6).right_way, 0.995) << setting.name;
  }
  EXPECT_GE(heavy_rates_of(settings().front(), 1.1, 6).right_way, 0.995);
}

TEST(HeavyLoad, DirectionsRemainWhereSizesDoNot) {
  const auto seen = heavy_rates_of({"", modes_of(0.1, kSlow)}, 1.1, 6);
  EXPECT_LE(seen.sizes, 0.4);
  EXPECT_GE(seen.right_way, 0.55);
}

// A drift that both sides meet leaves the pairs alike.
TEST(HeavyLoad, CommonDriftCostsNoSize) {
  EXPECT_GE(heavy_rates_of({"", drifting_by(0.5)}, 1.1, 6).sizes, 0.95);
  EXPECT_GE(heavy_rates_of({"", drifting_by(2)}, 1.1, 6).sizes, 0.95);
}

// Work as 1.05 to 1, beside processes that took nine tenths of the CPU.
TEST(HeavyLoad, MedianTimesInTwoModesGiveNoSize) {
  const std::vector<double> light{1.91, 1.93, 1.90, 2.05, 1.92, 1.94}, heavy{5.9, 2.02, 5.8, 6.1, 5.7, 6.0};
  const auto c = compare_pairs(light, heavy);
  EXPECT_FALSE(c.ci_ratio);
  EXPECT_EQ(c.no_size, "the times of the processes differ too much");
  EXPECT_EQ(c.reason, "");
  EXPECT_EQ(c.verdict, Verdict::kRegression);  // all six pairs agree on that
  EXPECT_EQ(compare_pairs(heavy, light).verdict, Verdict::kImprovement);
}

TEST(HeavyLoad, ADirectionNeedsThePairsToAgree) {
  const std::vector<double> light{1.91, 2.10, 1.90, 2.05, 1.92, 1.94}, heavy{5.9, 2.02, 5.8, 6.1, 5.7, 6.0};
  const auto c = compare_pairs(light, heavy);
  EXPECT_FALSE(c.ci_ratio);
  EXPECT_EQ(c.verdict, Verdict::kInconclusive);
}

TEST(HeavyLoad, MediansThatWaitedAreHeldAgainstMeans) {
  const std::vector<double> ones(6, 1.0);
  const auto ratios = [&](std::vector<double> values) { return compare_pairs(ones, values); };
  const auto wide = ratios({1.03, 1.08, 1.05, 1.10, 1.02, 1.06});
  const auto apart = held_against(ratios({10.2, 10.3, 10.1, 10.2, 10.4, 10.2}), wide);
  EXPECT_FALSE(apart.ci_ratio);
  EXPECT_EQ(apart.verdict, Verdict::kRegression);
  EXPECT_EQ(apart.no_size, "the processes waited for CPUs, so medians and means differ");
  const auto hidden = held_against(ratios({1.001, 1.002, 1, 0.999, 1, 1.001}), wide);
  EXPECT_FALSE(hidden.ci_ratio);
  EXPECT_EQ(hidden.verdict, Verdict::kInconclusive);
  const auto near = held_against(ratios({1.08, 1.10, 1.12, 1.09, 1.11, 1.10}), wide);
  ASSERT_TRUE(near.ci_ratio);
  EXPECT_NEAR(near.ci_ratio->low, wide.ci_ratio->low, 1e-12);
  EXPECT_NEAR(near.ci_ratio->high, 1.12, 1e-12);
  EXPECT_EQ(near.verdict, Verdict::kRegression);
  const auto reverse = held_against(ratios({0.5, 0.51, 0.5, 0.52, 0.5, 0.5}), wide);
  EXPECT_EQ(reverse.verdict, Verdict::kInconclusive);
}

}  // namespace
}  // namespace paceline::stats
