// SPDX-License-Identifier: MIT
// Requirements of `--resume` on the folder of a run, and what it takes from there.
#pragma once
#include <filesystem>
#include <vector>

#include "config/flags.h"
#include "config/plan.h"
#include "config/settings.h"
#include "result/run_directory.h"
#include "run/case/observer.h"

namespace paceline::cli {

// Throws Error(kUsage) for a folder without `stored_plan`, and for flags that would change what is measured.
void check_resumable(const config::FlagSet& flags, const config::Settings& options,
                     const std::filesystem::path& stored_plan);

// The run to resume. Without cases where it has no summary, or a damaged one: then only its records tell.
result::StoredRun previous_run(const std::filesystem::path& folder);

// The plan in the folder must be that of the run: else cases would be lost, or figures would stand beside
// settings that they were not measured with. Throws Error(kConfig) where a measured case is missing or has
// another setting.
void check_same_plan(const result::StoredRun& before, const std::vector<config::Case>& cases,
                     const config::FlagSet& flags);

// Moves a summary aside that is cut off or damaged, so that writing a new one loses nothing.
void set_damaged_summary_aside(const std::filesystem::path& folder, run::RunObserver& observer);

}  // namespace paceline::cli
