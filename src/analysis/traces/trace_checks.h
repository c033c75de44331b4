// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "analysis/traces/rank_trace.h"

namespace paceline::analysis::traces {

// Throws Error(kData) unless the traces are of one run, one per rank, with the same steps, and with
// communication where there are several ranks. Sorts them by rank and fills in the ranks, and the world
// unless one trace alone does not tell.
void require_one_run(std::vector<RankTrace>& ranks);

}  // namespace paceline::analysis::traces
