// SPDX-License-Identifier: MIT
// Finds plug-ins by their manifests, loads them and makes engines.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/declared_engine.h"
#include "base/declared_option.h"
#include "plugin/capability.h"
#include "plugin/plugin.h"

namespace paceline::plugin {

// What the manifest beside a plug-in says, without loading anything.
struct Manifest {
  std::string name;
  std::filesystem::path file;  // the shared object; empty when not built
  std::vector<Capability> capabilities;
  std::vector<std::pair<std::string, std::string>> built_for;
  std::string not_built_because;  // empty when built and its library is there
  std::string fix;                // how to get it
  std::vector<DeclaredOption> options{};
  std::vector<DeclaredEngine> engines{};
  bool lacks_library = false;  // built, but `not_built_because` says what is wrong with the library here
};

// "not built: …" or "cannot run here: …".
std::string absence(const Manifest& manifest);

// <prefix>/lib/paceline/plugins beside the running executable.
std::filesystem::path plugin_dir();

// Every manifest of a folder, sorted by name. For one that cannot be read, the reason is in its entry. Of
// several of one name, built for several releases of a library, it is the one whose release the environment
// names.
std::vector<Manifest> read_manifests(const std::filesystem::path& folder);

// What FILE.engines.json says beside a plug-in FILE.so that has no manifest. Throws Error(kData) naming the
// file.
std::vector<DeclaredEngine> engines_beside(const std::filesystem::path& plugin,
                                           const std::vector<Capability>& brings);

// A loaded shared object. It is never unloaded, because vendor libraries do not survive that.
class LoadedPlugin {
 public:
  // Throws Error(kUnavailable) with the loader's message, or when the ABI version differs.
  explicit LoadedPlugin(const std::filesystem::path& file);
  [[nodiscard]] const Plugin& description() const { return *plugin_; }
  [[nodiscard]] std::vector<Capability> capabilities() const;
  // Each throws Error(kUnsupported) that lists what the plug-in brings when that is not among it.
  [[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& name) const {
    return plugin_->engines[index_of(Role::kEngine, name)].make();
  }
  [[nodiscard]] std::unique_ptr<Exporter> make_exporter(const std::string& format) const {
    return plugin_->exporters[index_of(Role::kExporter, format)].make();
  }
  [[nodiscard]] std::unique_ptr<Builder> make_builder(const std::string& engine) const {
    return plugin_->builders[index_of(Role::kBuilder, engine)].make();
  }
  [[nodiscard]] std::unique_ptr<Trainer> make_trainer(const std::string& device) const {
    return plugin_->trainers[index_of(Role::kTrainer, device)].make();
  }
  [[nodiscard]] const BackendEntry& backend(const std::string& name) const {
    return plugin_->backends[index_of(Role::kBackend, name)];
  }
  [[nodiscard]] std::unique_ptr<Communicator> make_communicator(const std::string& backend,
                                                                RankGroup& group) const {
    return plugin_->communicators[index_of(Role::kCommunicator, backend)].make(group);
  }
  [[nodiscard]] std::unique_ptr<Sampler> make_sampler(const std::string& name) const {
    return plugin_->samplers[index_of(Role::kSampler, name)].make();
  }
  [[nodiscard]] std::unique_ptr<DeviceProbe> make_probe(const std::string& device) const {
    return plugin_->probes[index_of(Role::kProbe, device)].make();
  }

 private:
  [[nodiscard]] std::size_t index_of(Role role, const std::string& name) const;

  std::filesystem::path file_;
  const Plugin* plugin_ = nullptr;
};

// Loads a shared object of the user's, whose operators register themselves with the library of a plug-in that
// is loaded. Throws Error(kUsage) with the loader's message.
void load_library(const std::filesystem::path& file, const std::filesystem::path& plugin);

}  // namespace paceline::plugin
