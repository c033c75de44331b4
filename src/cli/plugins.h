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
// timeout_s of the command line, else of the plan, for what is asked of plug-ins before the plan is
// validated.
std::optional<double> early_timeout_s(const config::FlagSet& flags,
                                      const std::optional<config::PlanText>& plan);
// No timeout_s: two minutes. Throws Error(kUnavailable) naming the file that cannot be loaded.
DescribedPlugins describe_plugins(const std::vector<std::string>& files,
                                  const std::optional<double>& timeout_s);
config::ExtraNames extra_names(const DescribedPlugins& plugins, const std::optional<double>& timeout_s);
run::EngineDirectory engine_directory(const DescribedPlugins& plugins);

}  // namespace paceline::cli
