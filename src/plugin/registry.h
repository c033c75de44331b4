// SPDX-License-Identifier: MIT
// Finds plug-ins by their manifests, loads them and makes engines.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/plugin.h"

namespace paceline::plugin {

// What the manifest beside a plug-in says, without loading anything.
struct Manifest {
  std::string name;
  std::filesystem::path file;  // the shared object; empty when not built
  std::vector<std::string> engines;
  std::vector<std::pair<std::string, std::string>> built_for;
  std::string not_built_because;  // empty when built
  std::string fix;                // how to get it
  // What its engines run on: cpu | cuda | any (each reports for itself).
  std::string device = "cpu";
};

// <prefix>/lib/paceline/plugins beside the running executable.
std::filesystem::path plugin_dir();

// Every manifest of a folder, sorted by name. For one that cannot be read, the reason is in its entry.
std::vector<Manifest> read_manifests(const std::filesystem::path& folder);

// A loaded shared object. It is never unloaded, because vendor libraries do not survive that.
class LoadedPlugin {
 public:
  // Throws Error(kUnavailable) with the loader's message, or when the ABI version differs.
  explicit LoadedPlugin(const std::filesystem::path& file);
  [[nodiscard]] const Plugin& description() const { return *plugin_; }
  // Throws Error(kUsage) listing the known engines.
  [[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& name) const;
  // Throws Error(kUnsupported) listing the known formats.
  [[nodiscard]] std::unique_ptr<Exporter> make_exporter(const std::string& format) const;
  // Throws Error(kUnsupported) when engines of this name are not built ahead of time.
  [[nodiscard]] std::unique_ptr<Builder> make_builder(const std::string& engine) const;
  // Throws Error(kUnsupported) when it does not train on this device.
  [[nodiscard]] std::unique_ptr<Trainer> make_trainer(const std::string& device) const;
  // Throws Error(kUnsupported) listing the known communication libraries.
  [[nodiscard]] const BackendEntry& backend(const std::string& name) const;

 private:
  std::filesystem::path file_;
  const Plugin* plugin_ = nullptr;
};

}  // namespace paceline::plugin
