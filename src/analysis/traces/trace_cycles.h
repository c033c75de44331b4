// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "analysis/traces/rank_trace.h"

namespace paceline::analysis::traces {

// Makes one trace of several recordings of one process, as torch.profiler.schedule(repeat=2) leaves them: of
// the same host, process and rank, with other steps.
void join_recordings(std::vector<RankTrace>& ranks);

}  // namespace paceline::analysis::traces
