// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/plugin.h"

namespace paceline::plugin {

// What is known of a plug-in from the manifest beside it, without loading anything.
struct Manifest {
  std::string name;
  std::filesystem::path file;  // the shared object; empty when not built
  std::vector<std::string> engines;
  std::vector<std::pair<std::string, std::string>> built_for;
  std::string not_built_because;  // empty when built
  std::string fix;                // how to get it
  // What its engines run on: cpu | cuda | any (they answer for themselves).
  std::string device = "cpu";
};

// <prefix>/lib/paceline/plugins beside the running executable.
std::filesystem::path plugin_dir();

// Every manifest of a folder, sorted by name. A manifest that cannot be read becomes one with the reason.
std::vector<Manifest> read_manifests(const std::filesystem::path& folder);

// A loaded shared object; stays loaded for the life of the process (vendor libraries do not survive
// unloading).
class LoadedPlugin {
 public:
  // Throws Error(kUnavailable) with the loader's words, or when the ABI version differs.
  explicit LoadedPlugin(const std::filesystem::path& file);
  [[nodiscard]] const Plugin& description() const { return *plugin_; }
  // Throws Error(kUsage) naming the engines there are.
  [[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& name) const;
  // Throws Error(kUnsupported) naming the formats there are.
  [[nodiscard]] std::unique_ptr<Exporter> make_exporter(const std::string& format) const;
  // Throws Error(kUnsupported) when engines of this name are not built ahead of time.
  [[nodiscard]] std::unique_ptr<Builder> make_builder(const std::string& engine) const;
  // Throws Error(kUnsupported) when it trains on no such device.
  [[nodiscard]] std::unique_ptr<Trainer> make_trainer(const std::string& device) const;
  // Throws Error(kUnsupported) naming the communication libraries there are.
  [[nodiscard]] const BackendEntry& backend(const std::string& name) const;

 private:
  std::filesystem::path file_;
  const Plugin* plugin_ = nullptr;
};

}  // namespace paceline::plugin
