// SPDX-License-Identifier: MIT
#include "plugin/registry.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/display_text.h"
#include "base/file.h"
#include "base/text.h"

namespace paceline::plugin {
namespace fs = std::filesystem;
namespace {

Manifest parse_manifest(const fs::path& path) {
  Manifest m;
  m.name = path.stem().string();
  try {
    const auto json = nlohmann::json::parse(read_file(path));
    m.name = json.at("name");
    m.engines = json.at("engines").get<std::vector<std::string>>();
    m.device = json.value("device", "cpu");
    for (const auto& [library, version] : json.at("built_for").items())
      m.built_for.emplace_back(library, version);
    m.not_built_because = json.at("not_built_because");
    m.fix = json.at("fix");
    if (m.not_built_because.empty()) m.file = path.parent_path() / json.at("file").get<std::string>();
  } catch (const std::exception& e) {
    m.not_built_because = fmt::format("its manifest '{}' cannot be read: {}", path.string(), plain_reason(e));
  }
  return m;
}

}  // namespace

fs::path plugin_dir() {
  return executable_dir().parent_path() / "lib" / "paceline" / "plugins";
}

std::vector<Manifest> read_manifests(const fs::path& folder) {
  std::vector<Manifest> manifests;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") manifests.push_back(parse_manifest(entry.path()));
  std::sort(manifests.begin(), manifests.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return manifests;
}

LoadedPlugin::LoadedPlugin(const fs::path& file) : file_(file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("cannot load plug-in '{}': {}", file.string(), ::dlerror()));
  const auto entry = reinterpret_cast<const Plugin* (*)()>(::dlsym(library, "paceline_plugin"));
  if (!entry)
    throw Error(
        ErrorCode::kUnavailable,
        fmt::format("'{}' is not a Paceline plug-in: it exports no paceline_plugin()", file.string()));
  plugin_ = entry();
  if (plugin_->abi_version != kAbiVersion)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("plug-in '{}' was built for ABI version {}, this paceline has {}; rebuild it",
                            file.string(), plugin_->abi_version, kAbiVersion));
}

std::unique_ptr<Engine> LoadedPlugin::make_engine(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& entry : plugin_->engines) {
    if (entry.name == name) return entry.make();
    names.emplace_back(entry.name);
  }
  throw Error(ErrorCode::kUsage, fmt::format("plug-in '{}' has no engine '{}'; it has: {}", file_.string(),
                                             name, join(names, ", ")));
}

std::unique_ptr<Exporter> LoadedPlugin::make_exporter(const std::string& format) const {
  std::vector<std::string> formats;
  for (const auto& entry : plugin_->exporters) {
    if (entry.format == format) return entry.make();
    formats.emplace_back(entry.format);
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("plug-in '{}' does not write {}; it writes: {}", file_.string(), format,
                          formats.empty() ? "nothing" : join(formats, ", ")));
}

std::unique_ptr<Builder> LoadedPlugin::make_builder(const std::string& engine) const {
  std::vector<std::string> engines;
  for (const auto& entry : plugin_->builders) {
    if (entry.engine == engine) return entry.make();
    engines.emplace_back(entry.engine);
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("plug-in '{}' builds no file for engine '{}'; it builds for: {}", file_.string(),
                          engine, engines.empty() ? "none" : join(engines, ", ")));
}

std::unique_ptr<Trainer> LoadedPlugin::make_trainer(const std::string& device) const {
  for (const auto& entry : plugin_->trainers)
    if (entry.device == device) return entry.make();
  throw Error(ErrorCode::kUnsupported,
              fmt::format("plug-in '{}' does not train on device '{}'", file_.string(), device));
}

const BackendEntry& LoadedPlugin::backend(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& entry : plugin_->backends) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("plug-in '{}' has no communication library '{}'; it has: {}", file_.string(), name,
                          names.empty() ? "none" : join(names, ", ")));
}

}  // namespace paceline::plugin
