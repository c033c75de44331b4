// SPDX-License-Identifier: MIT
#include "run/case/plugin_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "config/vocabulary.h"
#include "host/accelerators.h"
#include "process/spawn.h"
#include "process/worker.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

std::string kind_of(const std::string& device) {
  return device.substr(0, device.find(':'));
}

bool runs_on(const plugin::Manifest& manifest, const std::string& device) {
  return manifest.device == kind_of(device) || manifest.device == "any";
}

bool brings(const plugin::Manifest& manifest, const std::string& engine) {
  return std::find(manifest.engines.begin(), manifest.engines.end(), engine) != manifest.engines.end();
}

}  // namespace

EngineDirectory::EngineDirectory(std::vector<plugin::Manifest> installed,
                                 const std::map<fs::path, std::vector<std::string>>& extra)
    : installed_(std::move(installed)) {
  for (const auto& [file, engines] : extra)
    for (const auto& engine : engines) extra_[engine] = file;
}

EngineHome EngineDirectory::find(const std::string& engine, const std::string& device) const {
  if (const auto it = extra_.find(engine); it != extra_.end()) return {it->second, {}};
  std::string elsewhere;
  for (const auto& manifest : installed_) {
    if (!brings(manifest, engine)) continue;
    if (!runs_on(manifest, device)) {
      elsewhere += fmt::format("{}{}", elsewhere.empty() ? "" : ", ", manifest.device);
      continue;
    }
    if (manifest.not_built_because.empty()) return {manifest.file, {}};
    return {{},
            fmt::format("engine '{}' needs the {} plug-in, which is not built: {}; to get it: {}", engine,
                        manifest.name, manifest.not_built_because, manifest.fix)};
  }
  if (!elsewhere.empty())
    return {{},
            fmt::format("engine '{}' does not run on {} here; it does on: {}", engine, device, elsewhere)};
  return {
      {},
      fmt::format(
          "no plug-in here brings engine '{}' (looked in {}); reinstall, or give one with --plugin FILE.so",
          engine, plugin::plugin_dir().string())};
}

EngineHome engine_home(const EngineDirectory& engines, const std::string& engine, const std::string& device) {
  const auto home = engines.find(engine, device);
  if (home.file.empty() || device == "cpu") return home;
  const auto absent = host::no_visible_device_reason(host::SystemFiles());
  if (absent.empty()) return home;
  return {{}, fmt::format("device '{}': {}", device, absent)};
}

PluginDescription describe_plugin(const fs::path& file, const std::atomic<bool>& interrupt, double timeout_s,
                                  const std::string& device) {
  process::WorkerRequest request;
  request.spec.kind = pass::PassKind::kDescribe;
  request.spec.plugin_file = fs::absolute(file).string();
  request.spec.model.name = "tiny_cnn";
  request.spec.model.inputs = config::model_inputs(*config::find_model("tiny_cnn"), 1, 0);
  if (device != "cpu") request.spec.settings.options["device"] = device;
  const FileDescriptor log_file = process::memory_file("");  // a killed process leaves nothing behind
  request.log = fmt::format("/proc/self/fd/{}", log_file.get());
  request.timeout_s = timeout_s;
  const auto outcome = process::run_worker(request, interrupt, {});
  const std::string log = file_tail(request.log, 500);
  if (!outcome.ok) {
    const bool refused = outcome.reason_code == "unavailable" || outcome.reason_code == "config";
    throw Error(
        refused ? ErrorCode::kUsage : ErrorCode::kInternal,
        fmt::format("plug-in '{}': {}{}{}", file.string(), outcome.reason, log.empty() ? "" : "\n", log));
  }
  return {outcome.report.engines, outcome.report.versions, outcome.report.first_op_ns};
}

}  // namespace paceline::run
