// SPDX-License-Identifier: MIT
#include "plugin/registry.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/json.h"
#include "base/text.h"
#include "plugin/option_declaration.h"

namespace paceline::plugin {
namespace fs = std::filesystem;
namespace {

// In the order of Role.
constexpr auto kNames =
    std::apply([](const auto&... rows) { return std::array{std::string_view(rows.name)...}; }, kRoles);

std::vector<Capability> capabilities_in(const nlohmann::json& manifest) {
  const auto device = manifest.value("device", "cpu");
  std::vector<Capability> found;
  for (const auto& text : manifest.value("capabilities", std::vector<std::string>{}))
    found.push_back(capability_of(text, device));
  return found;
}

std::vector<DeclaredEngine> engines_in(const nlohmann::json& declared,
                                       const std::vector<Capability>& brings) {
  std::vector<DeclaredEngine> engines;
  const auto names = names_of(brings, Role::kEngine);
  for (const auto& json : declared) {
    const auto suffixes = [&](const char* key) { return json.value(key, std::vector<std::string>{}); };
    engines.push_back({json.at("name"), suffixes("reads"), suffixes("selected_by"), suffixes("builds"),
                       json.value("cross_check", ""), json.value("no_cross_check", "")});
    const auto& one = engines.back();
    if (std::ranges::find(names, one.name) == names.end())
      throw Error(ErrorCode::kData, fmt::format("the plug-in brings no engine '{}'", one.name));
    for (const auto& suffix : one.selected_by)
      if (std::ranges::find(one.reads, suffix) == one.reads.end())
        throw Error(ErrorCode::kData,
                    fmt::format("engine '{}' is selected by '{}', which it does not read", one.name, suffix));
  }
  return engines;
}

// A plug-in whose library an environment of Python brings: a launcher says which release that has.
void look_for_library(const nlohmann::json& needs, Manifest& m) {
  const std::string library = needs.at("library"), wanted = needs.at("version");
  const char* const variable = std::getenv(needs.at("variable").get<std::string>().c_str());
  const std::string found = variable ? variable : "";
  if (!found.empty() && (wanted.empty() || found == wanted)) return;
  m.lacks_library = true;
  const char* const python = std::getenv("PACELINE_PYTHON");  // whose environment that is
  m.fix = fmt::format("{} -m pip install {}", python && *python ? python : "python3",
                      needs.at("install").get<std::string>());
  m.not_built_because =
      found.empty()
          ? fmt::format("no {} in this environment", library)
          : fmt::format("the {} of this environment is {}, and this paceline has plug-ins for {}", library,
                        found, join(needs.at("releases").get<std::vector<std::string>>(), ", "));
}

Manifest parse_manifest(const fs::path& path) {
  Manifest m;
  m.name = path.stem().string();
  try {
    const auto json = parsed_json(read_foreign(path, Foreign::kManifest));
    m.name = json.at("name");
    m.capabilities = capabilities_in(json);
    m.options = parse_options(json.value("options", nlohmann::json::array()).dump(), m.capabilities);
    m.engines = engines_in(json.value("about_engines", nlohmann::json::array()), m.capabilities);
    for (const auto& [library, version] : json.at("built_for").items())
      m.built_for.emplace_back(library, version);
    m.not_built_because = json.at("not_built_because");
    m.fix = json.at("fix");
    if (json.contains("needs")) look_for_library(json["needs"], m);
    if (m.not_built_because.empty()) m.file = path.parent_path() / json.at("file").get<std::string>();
  } catch (const std::exception& e) {
    m.not_built_because = fmt::format("its manifest '{}' cannot be read: {}", path.string(), plain_reason(e));
  }
  return m;
}

}  // namespace

std::string role_name(Role role) {
  return std::string(kNames.at(static_cast<std::size_t>(role)));
}

Role role_of(const std::string& name) {
  if (const auto* const found = std::ranges::find(kNames, name); found != kNames.end())
    return static_cast<Role>(found - kNames.begin());
  throw Error(ErrorCode::kData, fmt::format("this version knows no role '{}' of plug-ins", name));
}

std::string to_text(const Capability& capability) {
  return fmt::format("{} {} {}", role_name(capability.role), capability.name, capability.device);
}

// A name may have spaces: the device is the last word if it is one.
Capability capability_of(const std::string& text, const std::string& device) {
  const auto role = text.substr(0, text.find(' '));
  Capability found{Role::kEngine, text.substr(std::min(text.size(), role.size() + 1)), device};
  const auto last = found.name.rfind(' ');
  const auto word = last == std::string::npos ? "" : found.name.substr(last + 1);
  if (word == "cpu" || word == "cuda" || word == "any") found.device = word, found.name.resize(last);
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (role == kNames[i] && !found.name.empty()) return found.role = static_cast<Role>(i), found;
  throw Error(ErrorCode::kData, fmt::format("this version knows no capability '{}'", text));
}

std::string in_words(Role role, const std::string& name) {
  return fmt::format("{} '{}'", role_name(role), name);
}

std::string summary_of(const std::vector<Capability>& capabilities) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (const auto names = names_of(capabilities, static_cast<Role>(i)); !names.empty())
      parts.push_back(fmt::format("{}s {}", kNames[i], join(names, " ")));
  return parts.empty() ? "nothing" : join(parts, "; ");
}

std::vector<std::string> names_of(const std::vector<Capability>& capabilities, Role role) {
  std::vector<std::string> names;
  for (const auto& one : capabilities)
    if (one.role == role) names.push_back(one.name);
  return names;
}

fs::path plugin_dir() {
  return executable_dir().parent_path() / "lib" / "paceline" / "plugins";
}

std::vector<Manifest> read_manifests(const fs::path& folder) {
  std::vector<Manifest> manifests;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") manifests.push_back(parse_manifest(entry.path()));
  const auto place = [](const Manifest& m) { return std::tuple(m.name, m.file.empty()); };
  std::ranges::sort(manifests, {}, place);
  const auto same_name = [](const Manifest& a, const Manifest& b) { return a.name == b.name; };
  manifests.erase(std::unique(manifests.begin(), manifests.end(), same_name), manifests.end());
  return manifests;
}

std::string absence(const Manifest& manifest) {
  return (manifest.lacks_library ? "cannot run here: " : "not built: ") + manifest.not_built_because;
}

std::vector<DeclaredEngine> engines_beside(const fs::path& plugin, const std::vector<Capability>& brings) {
  auto file = plugin;
  if (!fs::exists(file.replace_extension(".engines.json"))) return {};
  try {
    return engines_in(parsed_json(read_foreign(file, Foreign::kManifest)), brings);
  } catch (const std::exception& e) {
    throw Error(ErrorCode::kData, fmt::format("'{}' cannot be read: {}", file.string(), plain_reason(e)));
  }
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
    throw Error(
        ErrorCode::kUnavailable,
        fmt::format("plug-in '{}' has ABI {}, this paceline has {}: build it again with the headers of "
                    "this paceline; CHANGELOG.md lists what changed",
                    file.string(), plugin_->abi_version, kAbiVersion));
}

void load_library(const fs::path& file, const fs::path& plugin) {
  // Libraries of operators may name one that the plug-in has a stand-in for (torch_cpu_only/libtorch.so).
  const auto name = plugin.stem().string().substr(plugin.stem().string().find('_') + 1);
  std::error_code none;
  for (const auto& stand_in : fs::directory_iterator(plugin.parent_path() / (name + "_cpu_only"), none))
    ::dlopen(stand_in.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!::dlopen(file.c_str(), RTLD_LAZY | RTLD_GLOBAL))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("cannot load library '{}': {}; it must be built for the version and the device of the "
                    "engine's library here",
                    file.string(), ::dlerror()));
}

std::vector<Capability> LoadedPlugin::capabilities() const {
  std::vector<Capability> found;
  int role = 0;
  const auto add = [&](const auto& row) {
    for (const auto& entry : plugin_->*row.entries)
      found.push_back({static_cast<Role>(role), entry.*row.key});
    ++role;
  };
  std::apply([&](const auto&... rows) { (add(rows), ...); }, kRoles);
  return found;
}

void LoadedPlugin::refuse(Role role, const std::string& name) const {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("plug-in '{}' does not bring {}; it brings {}", file_.string(),
                          in_words(role, name), summary_of(capabilities())));
}

}  // namespace paceline::plugin
