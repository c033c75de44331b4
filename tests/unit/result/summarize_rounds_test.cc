// SPDX-License-Identifier: MIT
#include "result/figures/summarize_rounds.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::result {
namespace {

std::vector<CollectiveRank> ranks_on(std::initializer_list<const char*> hosts) {
  std::vector<CollectiveRank> ranks;
  for (const char* host : hosts) ranks.push_back({std::ssize(ranks), host, 0, ""});
  return ranks;
}

// All pairs of four ranks; those with `slow` take five times as long.
std::vector<RoundTimes> attempt_with(std::int64_t number, int slow) {
  std::vector<RoundTimes> times;
  std::int64_t at = 0;
  for (const auto& round : stats::pair_rounds(4)) {
    for (const auto& pair : round) {
      const std::int64_t ns = pair[0] == slow || pair[1] == slow ? 5000 : 1000;
      times.push_back({number, at, {pair.begin(), pair.end()}, {ns, ns + 10, ns + 20}});
    }
    ++at;
  }
  return times;
}

std::vector<RoundTimes> attempts_with(std::initializer_list<int> slow) {
  std::vector<RoundTimes> all;
  for (std::int64_t number = 0; const int one : slow) {
    const auto times = attempt_with(number++, one);
    all.insert(all.end(), times.begin(), times.end());
  }
  return all;
}

const RoundsAsked kAsked{"pairs", 2020, 1.2, true};

TEST(Rounds, FiguresOfAPair) {
  const auto f = summarize_rounds({{0, attempts_with({3, 3, 3})}}, ranks_on({"a", "a", "a", "a"}), kAsked);
  EXPECT_EQ(f.rounds, 3);
  EXPECT_EQ(f.attempts, 3);
  EXPECT_EQ(*f.wrong, 0);
  ASSERT_EQ(f.subsets.size(), 6u);
  for (const auto& subset : f.subsets) {
    const bool slow = subset.members[1] == 3;
    EXPECT_DOUBLE_EQ(*subset.ns, slow ? 5010 : 1010);
    EXPECT_DOUBLE_EQ(*subset.gb_per_s, slow ? 2020.0 / 5010 : 2);
  }
  ASSERT_EQ(f.slow.size(), 1u);
  EXPECT_EQ(f.slow[0].what, "rank");
  EXPECT_EQ(f.slow[0].ranks, std::vector<std::int64_t>{3});
  EXPECT_EQ(f.slow[0].hosts, std::vector<std::string>{"a"});
  EXPECT_NEAR(f.slow[0].factor, 5010.0 / 1010, 1e-9);
  EXPECT_TRUE(f.cleared.empty());
}

TEST(Rounds, ASuspicionThatIsNotConfirmedIsCleared) {
  const auto f = summarize_rounds({{0, attempts_with({2, -1, -1})}}, ranks_on({"a", "a", "a", "a"}), kAsked);
  EXPECT_TRUE(f.slow.empty());
  ASSERT_EQ(f.cleared.size(), 1u);
  EXPECT_EQ(f.cleared[0].ranks, std::vector<std::int64_t>{2});
}

// Suspicions that one process has confirmed and the next one does not even raise do not count.
TEST(Rounds, RepetitionsAreAttemptsToo) {
  const auto f = summarize_rounds({{0, attempts_with({1, 1, 1})}, {1, attempts_with({-1})}},
                                  ranks_on({"a", "a", "a", "a"}), kAsked);
  EXPECT_EQ(f.attempts, 4);
  EXPECT_TRUE(f.slow.empty());
  EXPECT_EQ(f.cleared.size(), 1u);
}

TEST(Rounds, HostsAreNumberedInTheOrderOfRanks) {
  EXPECT_EQ(hosts_of(ranks_on({"b", "a", "b", "c"})), (std::vector<int>{0, 1, 0, 2}));
}

TEST(Rounds, TwoRanksGetNoVerdict) {
  const std::vector<RoundTimes> times{{0, 0, {0, 1}, {10, 20, 30}}};
  const auto f = summarize_rounds({{0, times}}, ranks_on({"a", "b"}), {"pairs", 8, 1.2, false});
  EXPECT_EQ(f.no_verdict, "2 ranks have nobody to be compared with");
  EXPECT_FALSE(f.wrong);
  EXPECT_DOUBLE_EQ(f.subsets.at(0).times, 1);
}

TEST(Rounds, AttemptsOfDifferentSubsetsAreRefused) {
  auto times = attempts_with({-1, -1});
  times.pop_back();
  EXPECT_THROW(summarize_rounds({{0, times}}, ranks_on({"a", "a", "a", "a"}), kAsked), Error);
}

TEST(Rounds, AsCsv) {
  EXPECT_EQ(rounds_csv({{2, {{1, 3, {0, 5}, {10, 20}}}}}),
            "repetition,attempt,round,ranks,index,duration_ns\n2,1,3,0 5,0,10\n2,1,3,0 5,1,20\n");
}

}  // namespace
}  // namespace paceline::result
