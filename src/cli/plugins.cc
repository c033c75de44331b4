// SPDX-License-Identifier: MIT
#include "cli/plugins.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display_text.h"
#include "base/error.h"
#include "base/model_content.h"
#include "base/reading.h"
#include "base/text.h"
#include "cli/interrupts.h"
#include "config/declared_options.h"
#include "config/vocabulary.h"
#include "onnx/declared_inputs.h"
#include "onnx/index_limits.h"
#include "run/artefacts/file_inputs.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

constexpr double kDescribeS = 120;
constexpr double kFileInputsS = 300;  // enough for a file of many GB on a slow disk

}  // namespace

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

std::optional<double> early_timeout_s(const config::FlagSet& flags,
                                      const std::optional<config::PlanText>& plan) {
  std::string text = plan ? config::plan_value(*plan, "timeout_s").value_or("") : "";
  for (const auto& setting : flags.settings)
    if (setting.name == "timeout_s" && setting.values.size() == 1) text = setting.values.front().text;
  const auto seconds = parse_double(text);
  return seconds && *seconds > 0 ? seconds : std::nullopt;  // otherwise refused with the plan, with its place
}

DescribedPlugins describe_plugins(const std::vector<std::string>& files,
                                  const std::optional<config::PlanText>& plan,
                                  const std::optional<double>& timeout_s) {
  DescribedPlugins plugins;
  for (const auto& file : files) {
    if (const auto why = no_regular_file(file)) {
      const auto place = plan ? config::place_in_plan(*plan, {"plugin", "plugins"}, file) : config::Place{};
      const auto message = fmt::format("plug-in '{}' {}", shown_path(file), *why);
      if (place.line == 0) throw Error(ErrorCode::kUsage, message);
      throw config::ConfigErrors({config::diagnostic(place, message)});
    }
    plugins[fs::absolute(file)] =
        run::describe_plugin(file, InterruptGuard::flag(), timeout_s.value_or(kDescribeS));
  }
  return plugins;
}

config::ExtraNames extra_names(const DescribedPlugins& plugins, const std::optional<double>& timeout_s) {
  config::ExtraNames extra;
  for (const auto& [file, description] : plugins)
    for (auto& name : plugin::names_of(description.capabilities, plugin::Role::kEngine))
      extra.engines.push_back(std::move(name));
  extra.first_output_shape = [](const std::string& file) {
    return model_suffix(file) == ".onnx" ? onnx::read_first_output_shape(file) : std::nullopt;
  };
  extra.compared_numbers = [](const std::string& file) {
    return model_suffix(file) == ".onnx" ? onnx::compared_numbers(file)
                                         : std::map<std::string, std::int64_t>{};
  };
  extra.declared_inputs = [plugins, timeout_s](const std::string& file, const std::string& engine,
                                               const std::vector<std::string>& libraries) {
    if (model_suffix(file) == ".onnx") {
      auto inputs = onnx::read_declared_inputs(file);
      if (inputs.empty()) onnx::require_graph(file);
      onnx::add_index_limits(file, inputs);
      return inputs;
    }
    return run::file_inputs(engine_directory(plugins), engine, file, libraries,
                            timeout_s.value_or(kFileInputsS), InterruptGuard::flag());
  };
  return extra;
}

run::EngineDirectory engine_directory(const DescribedPlugins& plugins) {
  auto all = plugin::read_manifests(plugin::plugin_dir());
  for (const auto& [file, description] : plugins)
    all.insert(all.begin(), {file.stem().string(),
                             file,
                             description.capabilities,
                             {},
                             {},
                             {},
                             description.options,
                             plugin::engines_beside(file, description.capabilities)});
  return run::EngineDirectory(std::move(all));
}

void use_plugin_options(const DescribedPlugins& plugins) {
  std::vector<DeclaredOption> declared;
  std::vector<std::string> samplers;
  std::vector<DeclaredEngine> about_engines;
  const auto engines = engine_directory(plugins);
  for (const auto& plugin : engines.plugins()) {
    for (auto& name : plugin::names_of(plugin.capabilities, plugin::Role::kSampler))
      if (std::ranges::find(samplers, name) == samplers.end()) samplers.push_back(std::move(name));
    about_engines.insert(about_engines.end(), plugin.engines.begin(), plugin.engines.end());
    const std::vector<DeclaredOption> before = declared;  // they win: a section is of one plug-in
    for (const auto& option : plugin.options)
      if (std::ranges::find(before, option.section(), &DeclaredOption::section) == before.end())
        declared.push_back(option);
  }
  std::stable_partition(about_engines.begin(), about_engines.end(), [](const DeclaredEngine& engine) {
    return config::find_engine(engine.name) != nullptr;  // ours stay what reads and makes a file by default
  });
  config::use_declared_engines(std::move(about_engines));
  config::use_declared_options(std::move(declared), samplers);
}

void use_plugin_options(const config::FlagSet& flags) {
  use_plugin_options(describe_plugins(plugin_files(flags, {}), {}, early_timeout_s(flags, {})));
}

}  // namespace paceline::cli
