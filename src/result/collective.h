// SPDX-License-Identifier: MIT
// Figures of a collective: one case is a sweep over sizes. Times are ns per operation, GB is 10^9 bytes.
// Formulas: docs/metrics.md, collectives.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "result/collective_times.h"
#include "result/estimate.h"
#include "result/maybe.h"

namespace paceline::result {

// One size, in place or not.
struct CollectiveFigures {
  // As nccl-tests computes them: operations back to back, timed at once, mean over ranks.
  Number batch_ns, batch_algbw_gb_per_s, batch_busbw_gb_per_s;
  // Operations one by one, after a barrier each; the time of one is that of its slowest rank.
  Estimate sync_ns, sync_busbw_gb_per_s;
  Number sync_p99_ns;
  Number stream_ns;  // the same over those back to back
  Count n;           // operations one by one
  Count wrong;       // elements that were not as they must be
  bool converged = true;
};

struct CollectiveSizeFigures {
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  CollectiveFigures out_of_place, in_place;
};

// t = alpha + bytes / bandwidth, between two sizes.
struct LinkFigures {
  std::int64_t from_bytes = 0, to_bytes = 0;
  Estimate alpha_ns, gb_per_s;
};

// What was asked for at a size.
struct LeastBandwidth {
  std::int64_t bytes = 0;
  double gb_per_s = 0;
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
  std::vector<std::string> notes;  // what a reader of the figures must know
};

}  // namespace paceline::result
