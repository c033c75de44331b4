// SPDX-License-Identifier: MIT
// Figures of a collective: one case is a sweep over sizes. Times are ns per operation, GB is 10^9 bytes.
// Formulas: docs/metrics.md, collectives.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/maybe.h"
#include "result/stored/collective_times.h"
#include "result/stored/estimate.h"

namespace paceline::result {

// Spread of all operations one by one.
struct OperationSpread {
  Number min_ns, max_ns, mean_ns, stddev_ns;
  Number p95_ns;  // where the sample carries it
};

// One size, in place or not.
struct CollectiveFigures {
  // As nccl-tests computes them: operations back to back, timed at once, mean over ranks.
  Number batch_ns, batch_algbw_gb_per_s, batch_busbw_gb_per_s;
  // Operations one by one, after a barrier each; the time of one is that of its slowest rank.
  Estimate sync_ns, sync_busbw_gb_per_s;
  Number sync_p99_ns;
  OperationSpread sync_spread;
  Number stream_ns;  // the same over those back to back
  Count n;           // operations one by one
  Count wrong;       // elements that were not as they must be
  bool converged = true;
};

struct CollectiveSizeFigures {
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  CollectiveFigures out_of_place, in_place;
  // Bandwidth that the topology should reach, and the share reached by operations one by one out of place.
  Number expected_busbw_gb_per_s;
  Number expected_share;
};

// t = alpha + bytes / bandwidth, between two sizes.
struct LinkFigures {
  std::int64_t from_bytes = 0, to_bytes = 0;
  Estimate alpha_ns, gb_per_s;
};

// Requested bandwidth at a size.
struct LeastBandwidth {
  std::int64_t bytes = 0;
  double gb_per_s = 0;
};

// Ranks that exchanged messages with each other.
struct SubsetFigures {
  std::vector<std::int64_t> members;
  Number ns;         // median over the operations of all attempts
  Number gb_per_s;   // in each direction
  double times = 1;  // of the median of all subsets that lie, like it, within a host or across hosts
};

// A rank, host or link that takes longer than the others.
struct SlowPart {
  std::string what;  // rank | host | link | hosts
  std::vector<std::int64_t> ranks;
  std::vector<std::string> hosts;
  double factor = 1;         // its time over that of the others, the least of all attempts
  bool across_only = false;  // a rank that is slow with ranks of other hosts alone
};

// Rounds of messages between subsets of ranks (collectives.md: rounds).
struct RoundFigures {
  std::string of;  // pairs | hosts | the size of the subsets
  std::int64_t bytes = 0;
  std::int64_t rounds = 0, attempts = 0;
  Count wrong;
  double slow_factor = 1;  // what counts as slow
  std::vector<SubsetFigures> subsets;
  std::vector<SlowPart> slow;     // found in every attempt
  std::vector<SlowPart> cleared;  // found in the first one, and not in all
  std::string no_verdict;         // why nobody can be slow; empty: the figures carry a verdict
};

struct CollectiveResult {
  std::string operation, dtype;
  std::string reduction;  // empty: it has none
  Count root;
  std::string backend, launcher;
  std::vector<CollectiveRank> ranks;
  std::vector<CollectiveSizeFigures> sizes;
  Number average_busbw_gb_per_s;  // over all sizes, in place and out of place: nccl-tests' last line
  Count wrong;                    // of all sizes; missing: nothing was checked
  std::vector<LinkFigures> link;  // fitted to sync_ns out of place
  Number link_error;              // root mean square of the fit's relative errors
  std::vector<LeastBandwidth> least_busbw;
  std::optional<RoundFigures> rounds;  // where they were asked for
  // The row of the table of topologies that the run fits or names, in words with its source; empty: none,
  // and `notes` say why.
  std::string topology;
  std::vector<std::string> notes;  // what a reader of the figures must know
};

}  // namespace paceline::result
