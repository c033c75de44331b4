// SPDX-License-Identifier: MIT
#include "cli/plugins.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cli/interrupts.h"
#include "onnx/declared_inputs.h"
#include "run/file_inputs.h"

namespace paceline::cli {
namespace fs = std::filesystem;

std::optional<fs::path> plan_path(const config::FlagSet& flags, const config::Settings& options) {
  if (options.has("resume")) return fs::path(options.text("resume")) / "plan.yaml";
  if (options.has("config")) return options.text("config");
  if (!flags.positionals.empty()) return flags.positionals.front();
  return std::nullopt;
}

std::vector<std::string> plugin_files(const config::FlagSet& flags,
                                      const std::optional<config::PlanText>& plan) {
  std::vector<std::string> files;
  for (const auto& setting : flags.settings)
    if (setting.name == "plugin")
      for (const auto& value : setting.values) files.push_back(value.text);
  if (files.empty() && plan) files = config::plan_plugins(*plan);
  return files;
}

DescribedPlugins describe_plugins(const std::vector<std::string>& files) {
  DescribedPlugins plugins;
  for (const auto& file : files) {
    if (!fs::exists(file)) throw Error(ErrorCode::kUsage, fmt::format("plug-in '{}' does not exist", file));
    plugins[fs::absolute(file)] = run::describe_plugin(file, InterruptGuard::flag());
  }
  return plugins;
}

config::ExtraNames extra_names(const DescribedPlugins& plugins) {
  config::ExtraNames extra;
  for (const auto& [file, description] : plugins)
    extra.engines.insert(extra.engines.end(), description.engines.begin(), description.engines.end());
  extra.first_output_shape = [](const std::string& file) {
    return file.ends_with(".onnx") ? onnx::read_first_output_shape(file) : std::nullopt;
  };
  extra.declared_inputs = [plugins](const std::string& file, const std::string& engine) {
    if (file.ends_with(".onnx")) return onnx::read_declared_inputs(file);
    return run::file_inputs(engine_directory(plugins), engine, file, InterruptGuard::flag());
  };
  return extra;
}

run::EngineDirectory engine_directory(const DescribedPlugins& plugins) {
  std::map<fs::path, std::vector<std::string>> engines;
  for (const auto& [file, description] : plugins) engines[file] = description.engines;
  return {plugin::read_manifests(plugin::plugin_dir()), engines};
}

}  // namespace paceline::cli
