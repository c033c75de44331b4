// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attach/job_files.h"

// Totals of the step files of a job, without their steps.
namespace paceline::attach {

struct RankTotals {
  std::string file{};         // its name
  std::string problem{};      // why it cannot be read; empty if it can
  FilePlace place{};          // its steps: of the optimizer that made the most
  std::uint64_t lost = 0;     // scopes that found no room
  bool full = false;          // it ran out of room
  bool orderly = false;       // its process noted its end
  bool running = false;       // its process still writes it
  std::string exception{};    // type of the uncaught one that ended it; empty: none is known
  std::int64_t ended_ns = 0;  // since 1970; 0: it noted no end
};

// Files of a folder as job_files() tells them apart, and those that cannot be read.
struct FolderTotals {
  std::vector<RankTotals> job, others, apart, unreadable;
};
FolderTotals step_totals(const std::filesystem::path& folder);

// The newest start of each rank of the job, which may have ended before its second step.
std::vector<RankTotals> newest_starts(const FolderTotals& totals);

}  // namespace paceline::attach
