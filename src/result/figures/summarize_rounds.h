// SPDX-License-Identifier: MIT
// Summarizes the times of rounds to figures and to a verdict about ranks, hosts and links. Pure.
#pragma once
#include <string>
#include <vector>

#include "result/stored/collective.h"
#include "stats/rounds.h"

namespace paceline::result {

struct RoundsAsked {
  std::string of;
  std::int64_t bytes = 0;
  double slow_factor = 1;
  bool checked = true;
};

// Throws Error(kData) where attempts have not measured the same subsets.
RoundFigures summarize_rounds(const RoundsOfRepetitions& rounds, const std::vector<CollectiveRank>& ranks,
                              const RoundsAsked& asked);

// The host of every rank, as a number from 0 in the order of their first ranks.
std::vector<int> hosts_of(const std::vector<CollectiveRank>& ranks);

// The median over the operations of each subset.
stats::Attempt attempt_of(const std::vector<RoundTimes>& times);

}  // namespace paceline::result
