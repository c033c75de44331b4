// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "cli/context.h"
#include "config/flags.h"
#include "config/plan.h"
#include "result/stored/run_result.h"
#include "run/case/plugin_choice.h"

namespace paceline::cli {

// Commands that continue a first look; empty: there is none.
struct NextCommands {
  std::string tune, compare;
};
// After `infer` of one file in one engine and precision: the search for the best arm, and the command that
// compares all engines here that can run the file, in fp32 and, if it has products, int8. `run` says which
// engines refused the file. Empty if the user compared already, or there is nothing to compare.
NextCommands next_commands(const Context& context, const config::FlagSet& flags,
                           const std::vector<config::Case>& cases, const run::EngineDirectory& engines,
                           const result::RunResult& run);

}  // namespace paceline::cli
