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

// Content of the manifest beside a plug-in, read without loading anything.
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

// Why a plug-in is missing, for a message: "not built: …" or "cannot run here: …".
std::string absence(const Manifest& manifest);

// <prefix>/lib/paceline/plugins of the running executable.
std::filesystem::path plugin_dir();

// All manifests of a folder, sorted by name. If one cannot be read, its entry has the reason. If several have
// one name (built for several releases of a library), only the one of the release that the environment names
// is returned.
std::vector<Manifest> read_manifests(const std::filesystem::path& folder);

// The engines in FILE.engines.json, beside a plug-in FILE.so that has no manifest. Throws Error(kData) with
// the file's name.
std::vector<DeclaredEngine> engines_beside(const std::filesystem::path& plugin,
                                           const std::vector<Capability>& brings);

// A loaded shared object. It is never unloaded, because vendor libraries do not survive that.
class LoadedPlugin {
 public:
  // Throws Error(kUnavailable) with the loader's message, or when the ABI version differs.
  explicit LoadedPlugin(const std::filesystem::path& file);
  [[nodiscard]] const Plugin& description() const { return *plugin_; }
  [[nodiscard]] std::vector<Capability> capabilities() const;
  // The entry with this name. If there is none, throws Error(kUnsupported) that lists what the plug-in
  // brings.
  template <Role kRole>
  [[nodiscard]] const auto& entry(const std::string& name) const {
    const auto& row = std::get<static_cast<std::size_t>(kRole)>(kRoles);
    for (const auto& one : plugin_->*row.entries)
      if (name == one.*row.key) return one;
    refuse(kRole, name);
  }
  // Creates the object of this entry (an engine, a sampler, …) from `arguments`.
  template <Role kRole, typename... Arguments>
  [[nodiscard]] auto make(const std::string& name, Arguments&... arguments) const {
    return entry<kRole>(name).make(arguments...);
  }

 private:
  [[noreturn]] void refuse(Role role, const std::string& name) const;

  std::filesystem::path file_;
  const Plugin* plugin_ = nullptr;
};

// Loads a user's shared object, whose operators register themselves with the library of the loaded plug-in
// `plugin`. Throws Error(kUsage) with the loader's message.
void load_library(const std::filesystem::path& file, const std::filesystem::path& plugin);

}  // namespace paceline::plugin
