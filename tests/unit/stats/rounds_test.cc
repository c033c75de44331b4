// SPDX-License-Identifier: MIT
#include "stats/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "base/random.h"

namespace paceline::stats {
namespace {

constexpr double kFactor = 1.2;
constexpr int kAttempts = 3;

// Hosts of `per_host` ranks each.
std::vector<int> placed(int ranks, int per_host) {
  std::vector<int> hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts.push_back(rank / per_host);
  return hosts;
}

// A cluster whose truth is known: how many times longer than usual a pair takes.
struct Cluster {
  std::vector<int> hosts;
  double noise = 0.05;  // of the logarithm
  std::function<double(int, int)> slower = [](int, int) { return 1.0; };
  // How many times longer a pair takes in a round with one that takes more than twice its time.
  double after_waiting = 1;

  [[nodiscard]] double pair_ns(int a, int b) const {
    const bool across = hosts[static_cast<std::size_t>(a)] != hosts[static_cast<std::size_t>(b)];
    return (across ? 9e6 : 1e6) * slower(a, b);
  }
  // A ring is as slow as its slowest pair.
  [[nodiscard]] double ns(const Subset& members) const {
    double longest = 0;
    for (std::size_t i = 0; i < members.size(); ++i)
      longest = std::max(longest, pair_ns(members[i], members[(i + 1) % members.size()]));
    return longest;
  }
  [[nodiscard]] Attempt attempt(const std::vector<Round>& rounds, const CounterRng& random) const {
    Attempt times;
    for (const auto& round : rounds) {
      double longest = 0;
      for (const auto& members : round) longest = std::max(longest, ns(members));
      for (const auto& members : round) {
        const double own = ns(members) * (longest > 2 * ns(members) ? after_waiting : 1);
        times.push_back({members, own * std::exp(noise * random.normal(times.size()))});
      }
    }
    return times;
  }
  [[nodiscard]] std::vector<Suspicion> found(const std::vector<Round>& rounds, std::uint64_t seed) const {
    std::vector<Attempt> attempts{attempt(rounds, CounterRng(seed, 0))};
    const auto suspected = suspects(attempts.front(), hosts, kFactor);
    if (suspected.empty()) return {};
    const auto apart = with_suspects_apart(rounds, suspected);
    for (std::uint64_t i = 1; i < kAttempts; ++i) attempts.push_back(attempt(apart, CounterRng(seed, i)));
    return confirmed(attempts, hosts, kFactor);
  }
};

std::string words_of(const std::vector<Suspicion>& found) {
  static constexpr const char* kNames[] = {"rank", "host", "link", "hosts"};
  std::string text;
  for (const auto& one : found) {
    text += (text.empty() ? "" : ", ") + std::string(kNames[static_cast<int>(one.what)]);
    for (const int rank : one.ranks) text += " " + std::to_string(rank);
  }
  return text;
}

bool has(int rank, int a, int b) {
  return a == rank || b == rank;
}
bool are(int a, int b, int one, int other) {
  return std::pair(std::min(a, b), std::max(a, b)) == std::pair(one, other);
}

TEST(Rounds, EveryTwoMeetOnce) {
  for (const int n : {2, 3, 4, 5, 8, 9, 64, 65}) {
    const auto rounds = pair_rounds(n);
    EXPECT_EQ(static_cast<int>(rounds.size()), n % 2 == 0 ? n - 1 : n);
    std::set<Subset> met;
    for (const auto& round : rounds) {
      std::set<int> busy;
      for (const auto& pair : round) {
        ASSERT_EQ(pair.size(), 2u);
        EXPECT_LT(pair[0], pair[1]);
        EXPECT_TRUE(busy.insert(pair[0]).second && busy.insert(pair[1]).second) << "in two pairs at once";
        EXPECT_TRUE(met.insert(pair).second) << "met before";
      }
      EXPECT_EQ(static_cast<int>(round.size()), n / 2);
    }
    EXPECT_EQ(static_cast<int>(met.size()), n * (n - 1) / 2);
    EXPECT_LE(met.rbegin()->back(), n - 1);
  }
  EXPECT_TRUE(pair_rounds(1).empty());
}

TEST(Rounds, HostsMeetByThePlacesOfTheirRanks) {
  const auto rounds = host_rounds(placed(6, 2));
  ASSERT_EQ(rounds.size(), 3u);
  std::set<Subset> met;
  for (const auto& round : rounds) met.insert(round.begin(), round.end());
  EXPECT_EQ(met, (std::set<Subset>{{0, 2}, {1, 3}, {0, 4}, {1, 5}, {2, 4}, {3, 5}}));
  EXPECT_TRUE(host_rounds(placed(4, 4)).empty());
}

TEST(Rounds, SubsetsArePartitions) {
  for (const auto& [ranks, size] : {std::pair{8, 3}, {6, 3}, {64, 8}, {9, 4}}) {
    std::set<Round> different;
    for (const auto& round : subset_rounds(ranks, size)) {
      std::set<int> all;
      for (const auto& subset : round) {
        EXPECT_GE(static_cast<int>(subset.size()), size);
        all.insert(subset.begin(), subset.end());
      }
      EXPECT_EQ(static_cast<int>(all.size()), ranks);
      different.insert(round);
    }
    EXPECT_GE(different.size(), 4u);
  }
}

struct Truth {
  const char* what;
  int ranks, per_host;
  std::function<double(int, int)> slower;
  const char* found;
};

TEST(Rounds, ThePartThatIsSlowIsNamed) {
  const auto of_host = [](int host, int per_host) {
    return [=](int a, int b) { return (a / per_host == host) != (b / per_host == host) ? 3.0 : 1.0; };
  };
  const Truth truths[] = {
      {"a rank of four", 4, 4, [](int a, int b) { return has(2, a, b) ? 2.0 : 1.0; }, "rank 2"},
      {"a rank of three", 3, 3, [](int a, int b) { return has(0, a, b) ? 3.0 : 1.0; }, "rank 0"},
      {"two ranks of eight", 8, 8, [](int a, int b) { return has(1, a, b) || has(6, a, b) ? 2.0 : 1.0; },
       "rank 1, rank 6"},
      {"two ranks of four", 4, 4, [](int a, int b) { return has(1, a, b) || has(3, a, b) ? 3.0 : 1.0; },
       "rank 1, rank 3"},
      {"a link", 6, 6, [](int a, int b) { return are(a, b, 1, 4) ? 2.5 : 1.0; }, "link 1 4"},
      {"a rank and a link of others", 8, 8,
       [](int a, int b) { return has(7, a, b)      ? 2.0
                                 : are(a, b, 0, 3) ? 2.5
                                                   : 1.0; }, "rank 7, link 0 3"},
      {"a host of four", 8, 2, of_host(2, 2), "host 4 5"},
      {"a host with one rank", 4, 1, [](int a, int b) { return has(3, a, b) ? 2.5 : 1.0; }, "rank 3"},
      {"the link of two hosts", 8, 2, [](int a, int b) { return are(a / 2, b / 2, 1, 3) ? 2.5 : 1.0; },
       "hosts 2 3 6 7"},
      {"one rank's way to other hosts", 8, 2,
       [](int a, int b) { return has(5, a, b) && a / 2 != b / 2 ? 2.5 : 1.0; }, "rank 5"},
  };
  for (const auto& truth : truths)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Cluster cluster{placed(truth.ranks, truth.per_host), 0.05, truth.slower};
      const auto found = cluster.found(pair_rounds(truth.ranks), seed);
      EXPECT_EQ(words_of(found), truth.found) << truth.what << ", seed " << seed;
      for (const auto& one : found) EXPECT_GT(one.factor, 1.5) << truth.what;
    }
}

TEST(Rounds, OfHostsNameAHost) {
  const Cluster cluster{placed(12, 3), 0.05,
                        [](int a, int b) { return a / 3 == 1 || b / 3 == 1 ? 2.0 : 1.0; }};
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(words_of(cluster.found(host_rounds(cluster.hosts), seed)), "host 3 4 5");
}

TEST(Rounds, OfSubsetsNameARank) {
  const Cluster cluster{placed(16, 16), 0.05, [](int a, int b) { return has(9, a, b) ? 2.0 : 1.0; }};
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(words_of(cluster.found(subset_rounds(16, 4), seed)), "rank 9");
}

TEST(Rounds, DistinguishesARankThatIsSlowWithOtherHostsAlone) {
  const Cluster cluster{placed(8, 2), 0.05,
                        [](int a, int b) { return has(5, a, b) && a / 2 != b / 2 ? 2.5 : 1.0; }};
  const auto found = cluster.found(pair_rounds(8), 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].across_only);
}

// A pair that meets in the round of a slow link waits for it, and is not slow itself.
TEST(Rounds, APairInARoundWithASlowLinkIsNotSuspected) {
  for (const int ranks : {4, 5, 8})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Cluster cluster{placed(ranks, ranks), 0.03,
                            [](int a, int b) { return are(a, b, 1, 3) ? 20.0 : 1.0; }, 1.5};
      const auto rounds = pair_rounds(ranks);
      EXPECT_GT(suspects(cluster.attempt(rounds, CounterRng(seed, 0)), cluster.hosts, kFactor).size(), 1u);
      EXPECT_EQ(words_of(cluster.found(rounds, seed)), "link 1 3") << ranks << " ranks, seed " << seed;
    }
}

TEST(Rounds, SuspectedLinksMeetOneAfterTheOther) {
  const std::vector<Round> rounds{{{0, 1}, {2, 3}, {4, 5}}, {{0, 2}, {1, 4}}};
  const std::vector<Suspicion> suspected{{SuspectKind::kLink, {0, 1}},
                                         {SuspectKind::kLink, {4, 5}},
                                         {SuspectKind::kLink, {0, 2}},
                                         {SuspectKind::kRank, {4}}};
  EXPECT_EQ(with_suspects_apart(rounds, suspected),
            (std::vector<Round>{{{0, 1}, {2, 3}}, {{4, 5}}, {{0, 2}, {1, 4}}}));
  EXPECT_EQ(with_suspects_apart(rounds, {}), rounds);
}

// Noise alone accuses nobody, however few the ranks are.
TEST(Rounds, NoiseIsNotSuspected) {
  for (const auto& [ranks, per_host] : {std::pair{3, 3}, {4, 4}, {4, 1}, {8, 8}, {8, 2}, {16, 4}})
    for (const double noise : {0.02, 0.1, 0.3})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Cluster cluster{placed(ranks, per_host), noise};
        EXPECT_EQ(words_of(cluster.found(pair_rounds(ranks), seed)), "")
            << ranks << " ranks, noise " << noise << ", seed " << seed;
      }
}

TEST(Rounds, TwoRanksHaveNoOthersToCompareWith) {
  const Cluster cluster{placed(2, 1), 0.05, [](int, int) { return 9.0; }};
  EXPECT_TRUE(cluster.found(pair_rounds(2), 0).empty());
}

// With two hosts, the pairs between them say nothing about either.
TEST(Rounds, NeitherOfTwoHostsIsSuspected) {
  const Cluster cluster{placed(4, 2), 0.05, [](int a, int b) { return a / 2 != b / 2 ? 5.0 : 1.0; }};
  EXPECT_EQ(words_of(cluster.found(pair_rounds(4), 0)), "");
}

// A pair that is slow in one attempt alone is suspected, and nobody's fault.
TEST(Rounds, DropsSuspicionsThatARetryDoesNotConfirm) {
  Cluster once{placed(4, 4), 0.02, [](int a, int b) { return has(2, a, b) ? 3.0 : 1.0; }},
      never{placed(4, 4), 0.02};
  const auto rounds = pair_rounds(4);
  const std::vector<Attempt> attempts{once.attempt(rounds, CounterRng(1, 0)),
                                      never.attempt(rounds, CounterRng(1, 1))};
  EXPECT_EQ(words_of(suspects(attempts.front(), once.hosts, kFactor)), "rank 2");
  EXPECT_TRUE(confirmed(attempts, once.hosts, kFactor).empty());
  EXPECT_TRUE(confirmed({attempts.data(), 1}, once.hosts, kFactor).empty()) << "one attempt is no verdict";
}

}  // namespace
}  // namespace paceline::stats
