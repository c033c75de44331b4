// SPDX-License-Identifier: MIT
// Runs a search: one case per arm, in rounds.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/tune/tune_request.h"
#include "config/plan.h"
#include "result/stored/run_result.h"
#include "tune/search.h"

namespace paceline::cli {

// A combination that cannot run, and why.
struct LeftOutArm {
  std::string label, reason;
};

struct RacedArms {
  tune::Search search;  // arm i is case i of the run
  result::RunResult run;
  config::Plan plan;  // of all arms
  std::vector<config::Case> cases;
  std::vector<LeftOutArm> left_out;
  std::filesystem::path folder;
  bool cut_short = false;  // by the budget
};

// Measures until the search or its budget is over, or a signal comes. Throws Error(kUsage) for a space of one
// arm or of too many, Error(kUnavailable) for an objective that nothing can measure here.
RacedArms race_arms(TuneRequest& request, const Context& context, const Console& console);

}  // namespace paceline::cli
