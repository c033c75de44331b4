// SPDX-License-Identifier: MIT
// Plans of the commands that run cases, as they are before the first process starts.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/plugins.h"
#include "cli/run/launch_start.h"
#include "cli/run/progress_view.h"
#include "config/flag_set.h"
#include "config/plan.h"
#include "config/settings.h"
#include "result/run_directory.h"
#include "result/stored/run_result.h"
#include "run/case/run_setup.h"

namespace paceline::cli {

class NsightRun;

// Plan and cases of a command, and what they need.
struct Planned {
  config::Settings options;
  DescribedPlugins plugins;
  config::Plan plan;
  std::vector<config::Case> cases;
  std::vector<std::string> gates;
  std::set<std::string> only;
  result::StoredRun previous{};  // to resume; without a folder: none
};

// The flags of a command that runs cases; those of profile with its profiled steps. Plug-ins may add options.
config::FlagSet typed_flags(const Context& context, unsigned command);

// `flags` are read again once plug-ins have added their options. `start`: of the launch that this process
// belongs to; null: none. Throws Error or ConfigErrors with every mistake.
Planned plan_run(const Context& context, config::FlagSet& flags, const config::Settings& options,
                 const LaunchStart* start);

// Folder of the run to resume, or of a new one. Throws Error(kUsage) for standard output.
std::filesystem::path run_folder(const config::Plan& plan, const config::Settings& options);

run::RunSetup setup_of(const Planned& p, const Context& context);

// Adds notes of the user, and the commit of the sources.
void add_user_facts(const config::Plan& plan, nlohmann::json& environment);

// Runs all cases; `view` shows how it goes. `tool`: what timed passes are started under; null: nothing.
result::RunResult run_watched(run::RunSetup setup, result::RunDirectory& directory, ProgressView& view,
                              NsightRun* tool);

}  // namespace paceline::cli
