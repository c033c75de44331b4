// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plugin/builder.h"
#include "plugin/communicator.h"
#include "plugin/device_probe.h"
#include "plugin/engine.h"
#include "plugin/exporter.h"
#include "plugin/rank_group.h"
#include "plugin/sampler.h"
#include "plugin/trainer.h"

// Entry of a plug-in's shared object: one C function, paceline_plugin(), returns a static description.
namespace paceline::plugin {

// Raised when anything in base/error.h, base/tensor.h, base/declared_input.h or plugin/*.h changes its layout
// or its meaning.
inline constexpr std::uint32_t kAbiVersion = 1;

struct EngineEntry {
  const char* name;
  const char* summary;
  std::unique_ptr<Engine> (*make)();
};

struct ExporterEntry {
  const char* format;  // onnx | torchscript
  std::unique_ptr<Exporter> (*make)();
};

struct BuilderEntry {
  const char* engine;  // the engine that loads what it builds
  const char* suffix;  // of the files: .blob
  std::unique_ptr<Builder> (*make)();
};

struct TrainerEntry {
  const char* device;  // cpu | cuda
  std::unique_ptr<Trainer> (*make)();
};

// A communication library: its store, at which ranks meet, and its group.
struct BackendEntry {
  const char* name;  // gloo | nccl
  std::shared_ptr<Store> (*connect)(const Rendezvous& where);
  std::unique_ptr<RankGroup> (*join)(std::shared_ptr<Store> store, const GroupSpec& spec);
};

// Collectives that are measured by themselves, over groups of one backend.
struct CommunicatorEntry {
  const char* backend;                                      // of this plug-in
  std::unique_ptr<Communicator> (*make)(RankGroup& group);  // the group outlives it
};

// Factory of a sampler, which watches something beside the timed loop of any case.
struct SamplerEntry {
  const char* name;
  std::unique_ptr<Sampler> (*make)();
};

// Factory of a probe, which measures the best of a kind of device.
struct ProbeEntry {
  const char* device;  // cuda
  std::unique_ptr<DeviceProbe> (*make)();
};

struct Plugin {
  std::uint32_t abi_version;  // first member in every version, checked before anything else is read
  const char* name;
  std::vector<std::pair<std::string, std::string>> (
      *versions)();  // libraries as loaded now, e.g. {"LibTorch", "2.15.0"}
  std::span<const EngineEntry> engines;
  std::span<const ExporterEntry> exporters = {};
  std::span<const BuilderEntry> builders = {};
  std::span<const TrainerEntry> trainers = {};
  std::span<const BackendEntry> backends = {};
  std::span<const CommunicatorEntry> communicators = {};
  std::span<const SamplerEntry> samplers = {};
  // Options of its engines and samplers, declared as in a manifest: a JSON array (docs/engine-plugins.md). A
  // plug-in that is found by its manifest has them there.
  const char* options = "[]";
  std::span<const ProbeEntry> probes = {};
};

}  // namespace paceline::plugin

// There is exactly one of these in a plug-in: PACELINE_PLUGIN(kMyPlugin)
#define PACELINE_PLUGIN(description)                                            \
  extern "C" PACELINE_EXPORT const paceline::plugin::Plugin* paceline_plugin(); \
  extern "C" const paceline::plugin::Plugin* paceline_plugin() {                \
    return &(description);                                                      \
  }
