// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plugin/registry.h"
#include "result/maybe.h"

namespace paceline::run {

// Which shared object brings an engine, or why none does.
struct EngineHome {
  std::filesystem::path file;
  std::string unavailable;  // reason and fix, when file is empty
};

class EngineDirectory {
 public:
  // Installed plug-ins by their manifests; `extra` are files given with --plugin with the engines they said
  // they have.
  EngineDirectory(std::vector<plugin::Manifest> installed,
                  const std::map<std::filesystem::path, std::vector<std::string>>& extra);
  // `device`: cpu, or cuda:N. A plug-in of the user's is taken for every device: it answers for itself.
  [[nodiscard]] EngineHome find(const std::string& engine, const std::string& device = "cpu") const;
  [[nodiscard]] const std::vector<plugin::Manifest>& installed() const { return installed_; }

 private:
  std::vector<plugin::Manifest> installed_;
  std::map<std::string, std::filesystem::path> extra_;
};

// The same, and whether this machine has the device.
EngineHome engine_home(const EngineDirectory& engines, const std::string& engine, const std::string& device);

// Asks a plug-in file, in a worker process, which engines it has. Throws Error(kUsage) for a file that is no
// plug-in of this version, Error(kInternal) for one that crashes or hangs.
struct PluginDescription {
  std::vector<std::string> engines;
  std::vector<std::pair<std::string, std::string>> versions;
  result::Number first_op_ns;  // from process start to the end of a first tiny inference
};
PluginDescription describe_plugin(const std::filesystem::path& file, const std::atomic<bool>& interrupt,
                                  double timeout_s, const std::string& device = "cpu");

}  // namespace paceline::run
