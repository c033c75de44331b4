// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "result/figures/late_rank.h"
#include "support/late_patterns.h"
#include "support/uneven_ranks.h"

// Random jobs with a late rank, and healthy jobs of several kinds of work: who is named.
namespace paceline::result {
namespace {

using testing::kOwnMs;
using testing::UnevenRanks;

constexpr std::array<std::int64_t, 3> kWorlds{2, 4, 8};
constexpr std::int64_t kAllRanks = 900;  // key of what varies on all ranks together

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

struct Counts {
  int certain = 0, suspected = 0, silent = 0, wrong = 0;
  void add(const std::vector<LateRank>& late, std::int64_t truth) {
    if (late.empty()) return void(++silent);
    if (late.front().rank != truth) return void(++wrong);
    ++(late.front().certain ? certain : suspected);
  }
  [[nodiscard]] int all() const { return certain + suspected + silent + wrong; }
  [[nodiscard]] std::string row(std::string_view name) const {
    return fmt::format("| {} | {} | {} | {} | {} | {} |\n", name, all(), certain, suspected, silent, wrong);
  }
};

// How many jobs of each kind instead of the usual number; the study then prints what it counts.
std::optional<std::uint64_t> asked() {
  const char* const text = std::getenv("LATE_RANK_STUDY");
  return text != nullptr ? std::optional(std::stoull(text)) : std::nullopt;
}

// With at least four late exchanges 95 % of patterns are named with certainty, and no other rank ever is.
TEST(LateRankStudy, RandomPatternsAreNamed) {
  Counts all;
  std::array<Counts, testing::kLatenessNames.size()> by_lateness;
  std::array<Counts, testing::kJitterNames.size()> by_jitter;
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < asked().value_or(1000); ++seed) {
    const auto drawn = testing::drawn_pattern(seed);
    const auto late = judged(drawn.run);
    wrong += !late.empty() && late.front().rank != drawn.rank && late.front().certain;
    if (drawn.late_exchanges() < kFewestLate) continue;
    for (Counts* counts : {&all, &by_lateness.at(static_cast<std::size_t>(drawn.lateness)),
                           &by_jitter.at(static_cast<std::size_t>(drawn.shape))})
      counts->add(late, drawn.rank);
  }
  std::string table;
  for (std::size_t i = 0; i < by_lateness.size(); ++i)
    table += by_lateness.at(i).row(testing::kLatenessNames.at(i));
  for (std::size_t i = 0; i < by_jitter.size(); ++i)
    table += by_jitter.at(i).row(testing::kJitterNames.at(i));
  table += all.row("all");
  EXPECT_EQ(wrong, 0) << table;
  EXPECT_GE(all.certain, 0.95 * all.all()) << table;
  RecordProperty("patterns", table);
  if (asked()) fmt::print("{}", table);
}

// 16.7 ms more on rank 1 in 20 of 41 steps, while all ranks vary together by 10 %.
TEST(LateRankStudy, CommonVariationHidesNoLateRank) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Draws draws(seed);
    const auto late = judged({.ranks = 2, .steps = 41, .own_ms = [&](std::int64_t rank, std::int64_t step) {
                                const double common = 0.1 * draws.normal(kAllRanks, step);
                                return kOwnMs * (1 + common + 0.005 * draws.normal(rank, step)) +
                                       (rank == 1 && step % 2 == 1 ? 16.7 : 0);
                              }});
    ASSERT_EQ(late.size(), 1U) << seed;
    EXPECT_TRUE(late[0].certain) << seed;
    EXPECT_EQ(late[0].rank, 1);
  }
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
    Work{"accumulation of 8, pauses",
         [](const Draws& d, std::int64_t r, std::int64_t s) {
           return jittered(d, r, s, 0.02) + (d.uniform(r, s) < 0.05 ? 80 : 0);
         },
         8},
    Work{"all ranks together, 10 %",
         [](const Draws& d, std::int64_t r, std::int64_t s) {
           return jittered(d, r, s, 0.02) * std::max(0.1, 1 + 0.1 * d.normal(kAllRanks, s));
         }},
    Work{"logging on all ranks every 10 steps", [](const Draws& d, std::int64_t r, std::int64_t s) {
           return jittered(d, r, s, 0.02) + (s % 10 == 9 ? 60 * d.uniform(r, s) : 0);
         }}};

// At most one in a thousand.
TEST(LateRankStudy, HealthyRunsNameNoRank) {
  const std::uint64_t runs = asked().value_or(10'000);
  for (const auto& work : kHealthy) {
    std::uint64_t certain = 0, suspected = 0;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      const CounterRng random(seed, 77);
      const Draws draws(seed + 5000);
      const auto late = judged(
          {.ranks = kWorlds.at(random.below(0, kWorlds.size())),
           .steps = 20 + static_cast<std::int64_t>(random.below(1, 181)),
           .own_ms = [&](std::int64_t rank, std::int64_t step) { return work.own_ms(draws, rank, step); },
           .accumulation = work.accumulation});
      if (late.empty()) continue;
      ++(late.front().certain ? certain : suspected);
    }
    if (asked()) fmt::print("| {} | {} | {} |\n", work.name, certain, suspected);
    EXPECT_LE(certain, runs / 1000) << work.name;
  }
}

}  // namespace
}  // namespace paceline::result
