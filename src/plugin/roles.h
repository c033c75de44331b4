// SPDX-License-Identifier: MIT
// The roles of plug-ins: one row each, which loading, listing and naming walk.
#pragma once
#include <cstdint>
#include <span>
#include <tuple>

#include "plugin/plugin.h"

namespace paceline::plugin {

enum class Role : std::uint8_t {
  kEngine,
  kExporter,
  kBuilder,
  kTrainer,
  kBackend,
  kCommunicator,
  kSampler,
  kProbe
};

// Entries of a plug-in for a role, each with its key.
template <typename Entry>
struct RoleRow {
  const char* name;
  std::span<const Entry> Plugin::*entries;
  const char* Entry::*key;
};
// Clang before 17 deduces no arguments of an aggregate.
template <typename Entry>
RoleRow(const char*, std::span<const Entry> Plugin::*, const char* Entry::*) -> RoleRow<Entry>;

// In the order of Role.
inline constexpr std::tuple kRoles{
    RoleRow{"engine", &Plugin::engines, &EngineEntry::name},
    RoleRow{"exporter", &Plugin::exporters, &ExporterEntry::format},
    RoleRow{"builder", &Plugin::builders, &BuilderEntry::engine},
    RoleRow{"trainer", &Plugin::trainers, &TrainerEntry::device},
    RoleRow{"backend", &Plugin::backends, &BackendEntry::name},
    RoleRow{"communicator", &Plugin::communicators, &CommunicatorEntry::backend},
    RoleRow{"sampler", &Plugin::samplers, &SamplerEntry::name},
    RoleRow{"probe", &Plugin::probes, &ProbeEntry::device}};

}  // namespace paceline::plugin
