// SPDX-License-Identifier: MIT
// Description of plugin/plugin.h for a plug-in of the ABI before this one, frozen by hand. When kAbiVersion
// is raised, this becomes the description of the number before (test_plugin_abi.py).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace paceline::plugin {

inline constexpr std::uint32_t kAbiVersion = 17;

class Engine {
 public:
  virtual ~Engine() = default;
};
struct ExporterEntry;
struct BuilderEntry;
struct TrainerEntry;
struct BackendEntry;
struct CommunicatorEntry;
struct SamplerEntry;
struct ProbeEntry;

struct EngineEntry {
  const char* name;
  const char* summary;
  std::unique_ptr<Engine> (*make)();
};

struct Plugin {
  std::uint32_t abi_version;
  const char* name;
  std::vector<std::pair<std::string, std::string>> (*versions)();
  std::span<const EngineEntry> engines;
  std::span<const ExporterEntry> exporters = {};
  std::span<const BuilderEntry> builders = {};
  std::span<const TrainerEntry> trainers = {};
  std::span<const BackendEntry> backends = {};
  std::span<const CommunicatorEntry> communicators = {};
  std::span<const SamplerEntry> samplers = {};
  const char* options = "[]";
  std::span<const ProbeEntry> probes = {};
};

}  // namespace paceline::plugin
