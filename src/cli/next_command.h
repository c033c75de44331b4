// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "cli/context.h"
#include "config/flags.h"
#include "config/plan.h"
#include "result/run_result.h"
#include "run/case/plugin_choice.h"

namespace paceline::cli {

// After `infer` (`run`) of one file in one engine and precision: the command that compares all engines here
// which read the file, in fp32 and, where it has products, int8. Empty where the user compared already, or no
// engine here reads the file.
std::string next_command(const Context& context, const config::FlagSet& flags,
                         const std::vector<config::Case>& cases, const run::EngineDirectory& engines,
                         const result::RunResult& run);

}  // namespace paceline::cli
