// SPDX-License-Identifier: MIT
// Reads the stored runs that gates name as their baseline.
#pragma once
#include <filesystem>
#include <string>

#include "history/index.h"
#include "result/run_directory.h"

namespace paceline::cli {

// The run of a folder or file, else of a tag, pin or id below `results`. Throws Error(kUsage) for a name of
// no run, Error(kData) for what is none.
result::StoredRun baseline_run(const std::string& name, const std::filesystem::path& results,
                               const history::Warn& warn);

}  // namespace paceline::cli
