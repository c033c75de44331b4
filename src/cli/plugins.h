// SPDX-License-Identifier: MIT
// Reads the plan of a command line and loads the plug-ins that it or `--plugin` names.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/flag_set.h"
#include "config/plan.h"
#include "config/plan_text.h"
#include "run/case/plugin_choice.h"

namespace paceline::cli {

using DescribedPlugins = std::map<std::filesystem::path, run::PluginDescription>;

// The plan that the command line names, or that of the run to resume; none: flags alone.
std::optional<std::filesystem::path> plan_path(const config::FlagSet& flags, const config::Settings& options);
// The files in --plugin, else in the plan's own `plugin` key, which is read before the plan is validated.
std::vector<std::string> plugin_files(const config::FlagSet& flags,
                                      const std::optional<config::PlanText>& plan);
// timeout_s of the command line, else of the plan, for questions to plug-ins before the plan is validated.
std::optional<double> early_timeout_s(const config::FlagSet& flags,
                                      const std::optional<config::PlanText>& plan);
// Without timeout_s: two minutes. Throws Error(kUnavailable) naming the file that cannot be loaded, and for
// one that does not exist Error(kUsage), with its place in the plan.
DescribedPlugins describe_plugins(const std::vector<std::string>& files,
                                  const std::optional<config::PlanText>& plan,
                                  const std::optional<double>& timeout_s);
config::ExtraNames extra_names(const DescribedPlugins& plugins, const std::optional<double>& timeout_s);
run::EngineDirectory engine_directory(const DescribedPlugins& plugins);
// Puts the options of engines into the table of options: those of `plugins`, then those that manifests
// declare.
void use_plugin_options(const DescribedPlugins& plugins);
// Serves commands without a plan: takes the plug-ins that their flags name.
void use_plugin_options(const config::FlagSet& flags);

}  // namespace paceline::cli
