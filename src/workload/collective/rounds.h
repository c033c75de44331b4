// SPDX-License-Identifier: MIT
// Times messages between subsets of ranks, round by round, and again where something looks slow.
#pragma once
#include <string>
#include <vector>

#include "plugin/communicator.h"
#include "result/stored/collective_times.h"
#include "stats/rounds.h"
#include "workload/rank.h"

namespace paceline::workload {

// The rounds that are asked for as pass::CollectiveSpec::rounds; `hosts` has the host of every rank. Throws
// Error(kUnsupported) for rounds of hosts where all ranks are on one.
std::vector<stats::Round> planned_rounds(const std::string& asked, const std::vector<int>& hosts);

// Each rank sends to the next one of its subset and receives from the one before, after a barrier of all.
// Where a rank, host or link is suspected, everything is measured twice more. Rank 0 reports round by round.
// Returns the times, which are the same on all ranks.
std::vector<result::RoundTimes> time_rounds(Rank& rank, plugin::Communicator& communicator,
                                            const std::vector<int>& hosts);

}  // namespace paceline::workload
