// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/plan.h"
#include "run/plugin_choice.h"

namespace paceline::cli {

using DescribedPlugins = std::map<std::filesystem::path, run::PluginDescription>;

// Files named by --plugin and by the plan's own `plugin` key, which is read before the plan is validated.
std::vector<std::string> plugin_files(const config::FlagSet& flags, const config::Settings& options);
// Throws Error(kUnavailable) naming the file that cannot be loaded.
DescribedPlugins describe_plugins(const std::vector<std::string>& files);
config::ExtraNames extra_names(const DescribedPlugins& plugins);
run::EngineDirectory engine_directory(const DescribedPlugins& plugins);

}  // namespace paceline::cli
