// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "result/late_rank.h"
#include "support/uneven_ranks.h"

// Runs with a rank that is late in some pattern, and healthy runs of several kinds of work: who is named.
namespace paceline::result {
namespace {

using testing::UnevenRanks;

constexpr double kOwnMs = 100, kLateMs = 40;
constexpr std::array<std::int64_t, 3> kWorlds{2, 4, 8};
constexpr std::array<std::int64_t, 4> kLengths{20, 40, 80, 200};

// Independent draws for every rank and step.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] double normal(std::int64_t rank, std::int64_t step) const {
    return CounterRng(seed_, static_cast<std::uint64_t>(rank)).normal(static_cast<std::uint64_t>(step));
  }
  [[nodiscard]] double uniform(std::int64_t rank, std::int64_t step) const {
    return CounterRng(seed_, 1000 + static_cast<std::uint64_t>(rank))
        .uniform(static_cast<std::uint64_t>(step));
  }

 private:
  std::uint64_t seed_;
};

std::vector<LateRank> judged(const UnevenRanks& run) {
  const auto tables = testing::tables_of(run);
  std::vector<RankFigures> ranks;
  for (const auto& table : tables) ranks.push_back(table.rank);
  return late_rank_of(accounts_of(aligned(tables)), ranks);
}

struct Pattern {
  std::string_view name;
  double share;  // of the steps
  bool (*late)(std::int64_t step, std::int64_t steps, double draw);
  std::int64_t accumulation = 1;
};
bool always(std::int64_t, std::int64_t, double) {
  return true;
}
bool second_half(std::int64_t step, std::int64_t steps, double) {
  return step >= steps / 2;
}
template <std::int64_t Every>
bool every(std::int64_t step, std::int64_t, double) {
  return step % Every == Every - 1;
}
constexpr std::array kPatterns{
    Pattern{"always", 1, always},
    Pattern{"second half", 0.5, second_half},
    Pattern{"first third", 0.33, [](std::int64_t s, std::int64_t n, double) { return s < n / 3; }},
    Pattern{"middle third", 0.33,
            [](std::int64_t s, std::int64_t n, double) { return s >= n / 3 && s < 2 * n / 3; }},
    Pattern{"every 2 steps", 0.5, every<2>},
    Pattern{"every 4 steps", 0.25, every<4>},
    Pattern{"every 10 steps", 0.1, every<10>},
    Pattern{"3 of 10 steps, at random", 0.3, [](std::int64_t, std::int64_t, double u) { return u < 0.3; }},
    Pattern{"always, 4 steps per exchange", 1, always, 4},
    Pattern{"second half, 2 steps per exchange", 0.5, second_half, 2}};

UnevenRanks with_late_rank(const Pattern& pattern, std::int64_t world, std::int64_t steps, std::uint64_t seed,
                           double jitter) {
  return {.ranks = world,
          .steps = steps,
          .own_ms =
              [=, draws = Draws(seed)](std::int64_t rank, std::int64_t step) {
                const bool late = rank == 1 && pattern.late(step, steps, draws.uniform(rank, step));
                return kOwnMs * (1 + jitter * draws.normal(rank, step)) + (late ? kLateMs : 0);
              },
          .accumulation = pattern.accumulation};
}

struct Counts {
  int certain = 0, suspected = 0, silent = 0, wrong = 0;
  void add(const std::vector<LateRank>& late, std::int64_t truth) {
    if (late.empty()) return void(++silent);
    if (late.front().rank != truth) return void(++wrong);
    ++(late.front().certain ? certain : suspected);
  }
};

// No other rank is ever named; the late one is in at least nine of ten runs of each cell, and with certainty
// where it is late in twenty exchanges and more.
TEST(LateRankStudy, EveryPatternIsNamed) {
  constexpr int kRuns = 20;
  std::string table;
  for (const auto& pattern : kPatterns)
    for (const std::int64_t world : kWorlds)
      for (const std::int64_t steps : kLengths) {
        Counts counts;
        for (std::uint64_t seed = 0; seed < kRuns; ++seed)
          counts.add(judged(with_late_rank(pattern, world, steps, seed, 0.02)), 1);
        const std::string cell = fmt::format(
            "{}, {} ranks, {} steps: certain {}, suspected {}, silent {}, wrong {}\n", pattern.name, world,
            steps, counts.certain, counts.suspected, counts.silent, counts.wrong);
        table += cell;
        EXPECT_EQ(counts.wrong, 0) << cell;
        EXPECT_GE(counts.certain + counts.suspected, 0.9 * kRuns) << cell;
        const bool often = pattern.share * static_cast<double>(steps / pattern.accumulation) >= 20;
        EXPECT_GE(counts.certain, often ? 0.9 * kRuns : 0) << cell;
      }
  RecordProperty("patterns", table);
  if (std::getenv("LATE_RANK_STUDY") != nullptr) fmt::print("{}", table);
}

// Work of healthy ranks, in ms.
struct Work {
  std::string_view name;
  double (*own_ms)(const Draws& draws, std::int64_t rank, std::int64_t step);
  std::int64_t accumulation = 1;
};
double jittered(const Draws& draws, std::int64_t rank, std::int64_t step, double share) {
  return kOwnMs * std::max(0.1, 1 + share * draws.normal(rank, step));
}
constexpr std::array kHealthy{
    Work{"even, 1 %", [](const Draws& d, std::int64_t r, std::int64_t s) { return jittered(d, r, s, 0.01); }},
    Work{"even, 5 %", [](const Draws& d, std::int64_t r, std::int64_t s) { return jittered(d, r, s, 0.05); }},
    Work{"uneven lengths, 50 to 150 %",
         [](const Draws& d, std::int64_t r, std::int64_t s) { return kOwnMs * (0.5 + d.uniform(r, s)); }},
    Work{"uneven lengths, one in five twice as long",
         [](const Draws& d, std::int64_t r, std::int64_t s) {
           return jittered(d, r, s, 0.01) * (d.uniform(r, s) < 0.2 ? 2 : 1);
         }},
    Work{"pauses, one in twenty steps",
         [](const Draws& d, std::int64_t r, std::int64_t s) {
           return jittered(d, r, s, 0.02) + (d.uniform(r, s) < 0.05 ? 80 : 0);
         }},
    Work{"accumulation, 5 %",
         [](const Draws& d, std::int64_t r, std::int64_t s) { return jittered(d, r, s, 0.05); }, 4},
    Work{"accumulation, 10 %",
         [](const Draws& d, std::int64_t r, std::int64_t s) { return jittered(d, r, s, 0.10); }, 4},
    Work{"logging on all ranks every 10 steps", [](const Draws& d, std::int64_t r, std::int64_t s) {
           return jittered(d, r, s, 0.02) + (s % 10 == 9 ? 60 * d.uniform(r, s) : 0);
         }}};

// At most one in a thousand. LATE_RANK_STUDY: how many runs of each kind of work instead of 3,000; prints.
TEST(LateRankStudy, HealthyRunsAccuseNobody) {
  const char* const asked = std::getenv("LATE_RANK_STUDY");
  const std::uint64_t runs = asked != nullptr ? std::stoull(asked) : 3000;
  for (const auto& work : kHealthy) {
    std::uint64_t accused = 0, suspected = 0;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      const CounterRng random(seed, 77);
      const Draws draws(seed + 5000);
      const auto late = judged(
          {.ranks = kWorlds.at(random.below(0, kWorlds.size())),
           .steps = 20 + static_cast<std::int64_t>(random.below(1, 181)),
           .own_ms = [&](std::int64_t rank, std::int64_t step) { return work.own_ms(draws, rank, step); },
           .accumulation = work.accumulation});
      if (late.empty()) continue;
      ++(late.front().certain ? accused : suspected);
    }
    if (asked != nullptr) fmt::print("{}: accused {}, suspected {}\n", work.name, accused, suspected);
    EXPECT_LE(accused, runs / 1000) << work.name;
  }
}

}  // namespace
}  // namespace paceline::result
