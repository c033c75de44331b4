// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

// Totals of the step files of a job, without their steps.
namespace paceline::attach {

struct RankTotals {
  std::string file{};     // its name
  std::string problem{};  // why it cannot be read; empty if it can
  std::int64_t rank = 0, world = 1;
  std::int64_t started_ns = 0;  // since 1970
  std::uint64_t steps = 0;      // of the optimizer that made the most
  std::uint64_t lost = 0;       // scopes that found no room
  bool rank_known = false;      // a launcher or torch.distributed said the rank
  bool full = false;            // it ran out of room
  bool orderly = false;         // its process noted its end
  std::string exception{};      // type of the uncaught one that ended it; empty: none is known
  std::int64_t ended_ns = 0;    // since 1970; 0: it noted no end
};

// Totals of each file, by name. Empty if there is none.
std::vector<RankTotals> step_totals(const std::filesystem::path& folder);

}  // namespace paceline::attach
