// SPDX-License-Identifier: MIT
// Capabilities that plug-ins can bring, and how manifests, records and messages write them.
#pragma once
#include <string>
#include <vector>

#include "plugin/roles.h"

namespace paceline::plugin {

struct Capability {
  Role role = Role::kEngine;
  // Name of an engine, backend or sampler; an exporter's format; the engine that a builder builds for; the
  // kind of device that a trainer trains on, or that a probe measures.
  std::string name;
  std::string device = "any";  // cpu | cuda | any: the plug-in answers for itself

  bool operator==(const Capability&) const = default;
};

std::string role_name(Role role);  // "engine"
// The role with this name. Throws Error(kData) for other names.
Role role_of(const std::string& name);

// A capability as text, "engine eager cpu", and back; without a third word the device is `device`. Throws
// Error(kData) for other text.
std::string to_text(const Capability& capability);
Capability capability_of(const std::string& text, const std::string& device = "any");

std::string in_words(Role role, const std::string& name);  // "engine 'eager'"
// "engines eager torchscript; trainers cpu"
std::string summary_of(const std::vector<Capability>& capabilities);
std::vector<std::string> names_of(const std::vector<Capability>& capabilities, Role role);

}  // namespace paceline::plugin
