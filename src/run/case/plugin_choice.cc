// SPDX-License-Identifier: MIT
#include "run/case/plugin_choice.h"

#include <fmt/format.h>

#include "base/device.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "config/vocabulary.h"
#include "host/machine/accelerators.h"
#include "plugin/option_declaration.h"
#include "process/spawn.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

bool runs_on(const plugin::Capability& capability, const std::string& device) {
  return capability.device == kind_name(device_named(device).kind) || capability.device == "any";
}

}  // namespace

EngineHome EngineDirectory::find(plugin::Role role, const std::string& name,
                                 const std::string& device) const {
  const auto words = plugin::in_words(role, name);
  std::vector<std::string> elsewhere;
  std::string not_built;
  for (const auto& manifest : plugins_)
    for (const auto& one : manifest.capabilities) {
      if (one.role != role || one.name != name) continue;
      if (!runs_on(one, device))
        elsewhere.push_back(one.device);
      else if (manifest.not_built_because.empty())
        return {manifest.file, {}};
      else if (not_built.empty())
        not_built = fmt::format("{} needs the {} plug-in, which {}{}; to get it: {}", words, manifest.name,
                                manifest.lacks_library ? "" : "is ", plugin::absence(manifest), manifest.fix);
    }
  if (!not_built.empty()) return {{}, not_built};
  if (!elsewhere.empty())
    return {{},
            fmt::format("{} does not run on {} here; it does on: {}", words, device, join(elsewhere, ", "))};
  return {
      {},
      fmt::format("no plug-in here brings {} (looked in {}); reinstall, or give one with --plugin FILE.so",
                  words, plugin::plugin_dir().string())};
}

std::string EngineDirectory::require(plugin::Role role, const std::string& name) const {
  const auto home = find(role, name);
  if (home.file.empty()) throw Error(ErrorCode::kUnavailable, home.unavailable);
  return home.file.string();
}

EngineHome home_here(const EngineDirectory& engines, plugin::Role role, const std::string& name,
                     const std::string& device) {
  const auto home = engines.find(role, name, device);
  if (home.file.empty() || is_cpu(device)) return home;
  const auto absent = host::no_visible_device_reason(host::SystemFiles());
  if (absent.empty()) return home;
  return {{}, fmt::format("device '{}': {}", device, absent)};
}

PluginAnswer ask_plugin(const pass::PassSpec& spec, double timeout_s, const std::atomic<bool>& interrupt) {
  const FileDescriptor log_file = process::memory_file("");  // a killed process leaves nothing behind
  const auto log = fmt::format("/proc/self/fd/{}", log_file.get());
  auto outcome = process::run_worker({spec, {}, log, {}, timeout_s}, interrupt, {});
  const auto tail = file_tail(log, 500);
  return {std::move(outcome), tail.empty() ? "" : "\n" + tail};
}

namespace {

std::vector<DeclaredOption> declared_options(const fs::path& file, const pass::PluginReport& plugin) try {
  return plugin::parse_options(plugin.options, plugin.capabilities);
} catch (const Error& e) {
  throw Error(ErrorCode::kUsage,
              fmt::format("plug-in '{}' declares an option wrongly: {}", file.string(), e.what()));
}

}  // namespace

PluginDescription describe_plugin(const fs::path& file, const std::atomic<bool>& interrupt, double timeout_s,
                                  const std::string& device) {
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kDescribe;
  spec.use(plugin::Role::kEngine, {}, fs::absolute(file).string());
  spec.model.name = "tiny_cnn";
  spec.model.inputs = config::model_inputs(*config::find_model("tiny_cnn"), 1, 0);
  if (!is_cpu(device)) spec.settings.options["device"] = device;
  const auto [outcome, log] = ask_plugin(spec, timeout_s, interrupt);
  const auto& brought = outcome.report.get<pass::PluginReport>();
  if (outcome.ok)
    return {brought.capabilities, outcome.report.versions, brought.first_op_ns,
            declared_options(file, brought)};
  const bool refused = outcome.reason_code == "unavailable" || outcome.reason_code == "config";
  throw Error(refused ? ErrorCode::kUsage : ErrorCode::kInternal,
              fmt::format("plug-in '{}': {}{}", file.string(), outcome.reason, log));
}

}  // namespace paceline::run
