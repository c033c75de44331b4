// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traces/rank_trace.h"

// Finds the traces of a run: one file, the files of a folder, or those in the folders of its ranks.
namespace paceline::analysis::traces {

struct FoundTraces {
  std::vector<RankTrace> ranks;
  std::vector<std::string> left_out;  // files that only look like traces, and why
};

// Throws Error(kUsage) when there is no trace, Error(kData) for one that cannot be used.
FoundTraces traces_in(const std::filesystem::path& from);

// Ranks that a name may contain. `rank`: the number behind "rank" (trace_rank3.json, rank_3/…). `number`: a
// numeric part (trace.3.json, 3/…), which may be anything: a process, a time.
struct NamedRank {
  std::optional<std::int64_t> rank, number;
};
NamedRank rank_in_name(const std::filesystem::path& below);

}  // namespace paceline::analysis::traces
