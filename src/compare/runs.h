// SPDX-License-Identifier: MIT
// Compares stored runs, each with the first one.
#pragma once
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/figures.h"
#include "compare/matching.h"
#include "compare/side_run.h"

namespace paceline::compare {

struct RunOptions {
  JudgeOptions judge{};
  std::vector<Match> matches{};
  bool allow_env_diff = false;
  std::optional<Control> control{};  // of sides that were measured together
  std::string block_order{};         // likewise
  bool explains = true;              // reads the parts of cases to explain their differences
};

// The command that measures such cases in turns: "paceline compare infer --a … --b …".
std::string in_turns_command(const result::RunResult& run);

// At least two sides; their runs may be of any kinds, a pair of cases is of one. Throws Error(kUsage) for
// runs without a common case, and for one run on two sides.
Comparison compare_runs(const std::vector<SideRun>& sides, const RunOptions& options);

}  // namespace paceline::compare
