// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/traces/rank_trace.h"

namespace paceline::analysis::traces {

// Throws Error(kData) unless the traces are of one run, one per rank, with the same steps, and
// traces of several ranks with communication. Ranks may be missing. Sorts the traces by rank, fills in the
// ranks, and the world unless nothing tells it, and leaves out steps that one of them does not have whole,
// and a last step in which their exchanges differ.
void require_one_run(std::vector<RankTrace>& ranks);

// "rank 3", "steps 4, 5 and 9 more"
std::string listed(std::string_view noun, const std::vector<std::int64_t>& numbers);

}  // namespace paceline::analysis::traces
