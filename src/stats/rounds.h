// SPDX-License-Identifier: MIT
// Rounds of messages between subsets of ranks: who meets whom, and what their times say about single ranks,
// hosts and links.
#pragma once
#include <span>
#include <vector>

namespace paceline::stats {

using Subset = std::vector<int>;    // ranks that exchange messages with each other
using Round = std::vector<Subset>;  // subsets that do so at the same time; no rank is in two of them

// Every two of `members` meet once: members - 1 rounds, or as many as members where their number is odd and
// each pauses once.
std::vector<Round> pair_rounds(int members);
// Every two hosts meet once; their ranks meet by their places. `hosts` has the host of every rank.
std::vector<Round> host_rounds(std::span<const int> hosts);
// Partitions into subsets of `size` or a little more, drawn with a fixed seed. At least 2 * size ranks.
std::vector<Round> subset_rounds(int ranks, int size);

// What a subset has measured in one attempt.
struct SubsetTime {
  Subset members;
  double ns = 0;  // > 0
};
using Attempt = std::vector<SubsetTime>;

enum class Culprit { kRank, kHost, kLink, kHostLink };
struct Suspicion {
  Culprit what = Culprit::kRank;
  std::vector<int> ranks;    // the rank, those of the host, the two of the link, those of two hosts
  double factor = 1;         // its time over that of the others
  bool across_only = false;  // a rank that is slow with ranks of other hosts alone
};

// A rank is slow when its fastest subset is, a host when all its ranks are with other hosts (three hosts at
// least: two have only each other), and a link when its pair is slow but neither of its ranks. Slow is what
// takes `least_factor` of the time of the others and lies outside their spread. Subsets within a host and
// across hosts are judged apart, and those of less than three ranks not at all. A suspicion is worth another
// attempt, and no verdict.
std::vector<Suspicion> suspects(const Attempt& attempt, std::span<const int> hosts, double least_factor);

// The rounds of another attempt: the same subsets in the same order, and no two suspected links at the same
// time. The rest of a round waits for its slowest pair, and ranks that have waited may take longer to begin.
std::vector<Round> with_suspects_apart(std::span<const Round> rounds, std::span<const Suspicion> suspected);

// Who is slow in every attempt, beyond the noise that the attempts have between them; with the least factor.
// Nobody after a single attempt.
std::vector<Suspicion> confirmed(std::span<const Attempt> attempts, std::span<const int> hosts,
                                 double least_factor);

}  // namespace paceline::stats
