// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "base/maybe.h"
#include "pass/rank_spec.h"
#include "plugin/registry.h"
#include "process/worker.h"

namespace paceline::run {

// Which shared object brings a capability, or why none does.
struct EngineHome {
  std::filesystem::path file;
  std::string unavailable;  // reason and fix, when file is empty
};

// How the ranks of a case meet, and the plug-in that they load.
struct RankHome {
  pass::RankSpec ranks;
  EngineHome plugin;
  std::string no_cuda{};  // why device: auto is the CPU; empty: it is not
};

class EngineDirectory {
 public:
  // Earlier entries win: a user's own before installed ones.
  explicit EngineDirectory(std::vector<plugin::Manifest> plugins) : plugins_(std::move(plugins)) {}
  // `device`: cpu, or cuda:N.
  [[nodiscard]] EngineHome find(plugin::Role role, const std::string& name,
                                const std::string& device = "cpu") const;
  [[nodiscard]] EngineHome find(const std::string& engine) const {
    return find(plugin::Role::kEngine, engine);
  }
  // Throws Error(kUnavailable) where none brings it.
  std::string require(plugin::Role role, const std::string& name) const;
  [[nodiscard]] const std::vector<plugin::Manifest>& plugins() const { return plugins_; }

 private:
  std::vector<plugin::Manifest> plugins_;
};

// Finds it, and whether this machine has the device.
EngineHome home_here(const EngineDirectory& engines, plugin::Role role, const std::string& name,
                     const std::string& device);

// Runs a pass that belongs to no case in a worker process. `log` is the end of what it printed, on a line of
// its own, for a message about it.
struct PluginAnswer {
  process::WorkerOutcome outcome;
  std::string log;
};
PluginAnswer ask_plugin(const pass::PassSpec& spec, double timeout_s, const std::atomic<bool>& interrupt);

// Asks a plug-in file, in a worker process, what it brings. Throws Error(kUsage) for a file that is no
// plug-in of this version, Error(kInternal) for one that crashes or hangs.
struct PluginDescription {
  std::vector<plugin::Capability> capabilities;
  std::vector<std::pair<std::string, std::string>> versions;
  Number first_op_ns;  // from process start to the end of a first tiny inference
  std::vector<DeclaredOption> options;
};
PluginDescription describe_plugin(const std::filesystem::path& file, const std::atomic<bool>& interrupt,
                                  double timeout_s, const std::string& device = "cpu");

}  // namespace paceline::run
