// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/own_environment.h"
#include "host/machine/cpu.h"
#include "host/machine/gpu_condition.h"
#include "host/machine/memory.h"
#include "host/machine/nvml.h"
#include "host/system_files.h"

// Records what a comparison of two results needs to know (methodology: reproducibility metadata).
namespace paceline::host {

// Where facts come from; replaced in tests.
struct EnvironmentSource {
  SystemFiles files{};
  std::filesystem::path binary = "/proc/self/exe";  // its digest is recorded
  std::optional<Environment> variables;             // default: this process's
  std::vector<int> affinity;                        // default: this thread's
  std::string nvml = kNvmlLibrary;
};

// The objects cpu, memory, nvidia, os, clock, load and variables, and command_line, binary_sha256. A fact
// that cannot be read is null with "<key>_reason" beside it. The host name is stored as a digest only;
// variables are stored by an allow-list only.
nlohmann::json capture_environment(const std::string& command_line,
                                   const EnvironmentSource& source = EnvironmentSource());

// Name of this host in stored results.
Maybe<std::string> host_digest(const SystemFiles& files = SystemFiles{});

// Keeps those on the allow-list: settings of libraries that threads, devices and ranks depend on.
Environment recorded_variables(Environment variables);

nlohmann::json to_json(const CpuInfo& cpu);
nlohmann::json to_json(const MemoryInfo& memory);
nlohmann::json to_json(const NvidiaDriver& driver);
nlohmann::json to_json(const GpuCondition& gpu);

}  // namespace paceline::host
