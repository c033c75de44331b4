// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "analysis/traces/rank_trace.h"
#include "analysis/traces/trace_study.h"

// The rows of a study: figures of each rank, and of operators over all ranks.
namespace paceline::analysis::traces {

// Whether the trace tells how long communication took, and why it does not.
bool times_communication(const RankTrace& one);
const char* why_untimed(const RankTrace& one);

// Of the communication of these ranks, the share that computing hides.
result::Number overlap_of(const std::vector<const RankTrace*>& ranks);

RankRow row_of(const RankTrace& one);
std::vector<OperatorRow> operators_of(const std::vector<RankTrace>& ranks, bool on_device);

}  // namespace paceline::analysis::traces
