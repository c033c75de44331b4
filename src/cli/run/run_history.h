// SPDX-License-Identifier: MIT
// Adds a finished run to the index of its folder, and says how it compares with the runs before.
#pragma once
#include <filesystem>
#include <string>

#include "cli/context.h"
#include "result/run_directory.h"

namespace paceline::cli {

// Lines for the end of the terminal's text; empty where there is nothing to say. `results`: the folder of
// runs; nothing happens unless the run is in a folder of an experiment below it. A failure is one warning.
std::string add_to_history(const result::RunResult& run, const result::RunDirectory& directory,
                           const std::filesystem::path& results, const Console& console);

}  // namespace paceline::cli
