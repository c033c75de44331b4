// SPDX-License-Identifier: MIT
// Adds a finished run to the index of its folder, and says how it compares with the runs before.
#pragma once
#include <filesystem>
#include <string>

#include "cli/context.h"
#include "result/stored/run_result.h"

namespace paceline::cli {

inline constexpr const char* kResults = "results";  // where runs are written by default, with their index

// Lines for the end of the terminal's text; empty where there is nothing to say. `folder`: of the run.
// `results`: the folder of runs; nothing happens unless the run is in a folder of an experiment below it. A
// failure is one warning.
std::string add_to_history(const result::RunResult& run, const std::filesystem::path& folder,
                           const std::filesystem::path& results, const Console& console);

}  // namespace paceline::cli
