// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/plan.h"
#include "config/plan_text.h"
#include "run/plugin_choice.h"

namespace paceline::cli {

using DescribedPlugins = std::map<std::filesystem::path, run::PluginDescription>;

// The plan that the command line names, or that of the run to resume; none: the flags are the plan.
std::optional<std::filesystem::path> plan_path(const config::FlagSet& flags, const config::Settings& options);
// Files named by --plugin, else by the plan's own `plugin` key, which is read before the plan is validated.
std::vector<std::string> plugin_files(const config::FlagSet& flags,
                                      const std::optional<config::PlanText>& plan);
// Throws Error(kUnavailable) naming the file that cannot be loaded.
DescribedPlugins describe_plugins(const std::vector<std::string>& files);
config::ExtraNames extra_names(const DescribedPlugins& plugins);
run::EngineDirectory engine_directory(const DescribedPlugins& plugins);

}  // namespace paceline::cli
