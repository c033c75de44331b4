// SPDX-License-Identifier: MIT
// Deletes the oldest runs so that the rest fits a size.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "history/index.h"

namespace paceline::history {

struct PruneRules {
  std::uint64_t keep_bytes = 0;  // size of all run folders together
  std::size_t keep_newest = 0;   // these stay in any case, as do runs with a tag or a pin
};

struct PrunedRun {
  std::string run_id;
  std::filesystem::path folder;
  std::uint64_t bytes = 0;
};

struct PrunePlan {
  std::vector<PrunedRun> runs;  // oldest first
  std::uint64_t bytes = 0;      // of all run folders before
  std::size_t kept = 0;         // runs that stay
  bool fits = true;             // false: tags, pins and newest runs alone are larger than the size
};

// Considers runs below the folder of the index only, and none that a process is writing.
PrunePlan plan_prune(const Index& index, const PruneRules& rules);

// Deletes the folders. Throws Error(kData) for one that is no folder of that run below the index's folder.
void prune(Index& index, const PrunePlan& plan);

}  // namespace paceline::history
