// SPDX-License-Identifier: MIT
// Rounds of messages between subsets of ranks: which ranks exchange messages, and which ranks, hosts and
// links are slow.
#pragma once
#include <span>
#include <vector>

namespace paceline::stats {

using Subset = std::vector<int>;    // ranks that exchange messages with each other
using Round = std::vector<Subset>;  // subsets that do so at the same time; no rank is in two of them

// Rounds in which every two of `members` meet once: members - 1 rounds; for an odd number `members` rounds,
// in which each pauses once.
std::vector<Round> pair_rounds(int members);
// Rounds in which every two hosts meet once: rank i of one with rank i of the other. hosts[r] is the host of
// rank r.
std::vector<Round> host_rounds(std::span<const int> hosts);
// Random partitions into subsets of `size` or a few more ranks, with a fixed seed. ranks >= 2 * size.
std::vector<Round> subset_rounds(int ranks, int size);

// Time of one subset in one attempt.
struct SubsetTime {
  Subset members;
  double ns = 0;  // > 0
};
using Attempt = std::vector<SubsetTime>;

enum class SuspectKind { kRank, kHost, kLink, kHostLink };
struct Suspicion {
  SuspectKind what = SuspectKind::kRank;
  std::vector<int> ranks;    // the rank, those of the host, the two of the link, those of two hosts
  double factor = 1;         // its time over that of the others
  bool across_only = false;  // a rank that is slow with ranks of other hosts alone
};

// Ranks, hosts and links that may be slow; another attempt must confirm them. A time is slow if it is at
// least `least_factor` times that of the others and outside their spread. A rank is slow if its fastest
// subset is; a host (of three or more) if all its ranks are slow with other hosts; a link if its pair is slow
// and neither of its ranks. Subsets within a host and across hosts are judged separately, and only with three
// ranks or more. hosts[r] is the host of rank r.
std::vector<Suspicion> suspects(const Attempt& attempt, std::span<const int> hosts, double least_factor);

// Rounds of another attempt: the same subsets in the same order, but no two suspected links in one round,
// because the rest of a round waits for its slowest pair, and ranks that waited may take longer to begin.
std::vector<Round> with_suspects_apart(std::span<const Round> rounds, std::span<const Suspicion> suspected);

// Suspicions of every attempt that exceed the noise between attempts, each with its smallest factor. Empty
// for a single attempt.
std::vector<Suspicion> confirmed(std::span<const Attempt> attempts, std::span<const int> hosts,
                                 double least_factor);

}  // namespace paceline::stats
