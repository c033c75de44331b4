// SPDX-License-Identifier: MIT
// Readings of a machine, one source per thing; a new one is a class and a row in all_sources().
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "host/system_files.h"
#include "monitor/snapshot.h"

namespace paceline::monitor {

class Source {
 public:
  virtual ~Source() = default;
  // Adds what can be read now. What cannot be read adds nothing, or a sentence to Snapshot::absent; it throws
  // nothing.
  virtual void read(Snapshot& into) = 0;
};

using Sources = std::vector<std::unique_ptr<Source>>;

// CPUs, memory, pressure, network, disks and power of this machine.
Sources machine_sources(const host::SystemFiles& files);
// Runs of this tool on this machine: processes of this name that hold the lock of a run directory.
std::unique_ptr<Source> run_source(const host::SystemFiles& files);
// Reads all GPUs with a plug-in's sampler, with this time between two readings.
std::unique_ptr<Source> gpu_source(const std::filesystem::path& plugin_dir, std::chrono::milliseconds period);
// CPU time of this process itself.
std::unique_ptr<Source> own_cost_source();

// The version of this tool, as paceline_build_info.
std::unique_ptr<Source> build_source(std::string version, std::string commit);

// `period`: the time between two snapshots.
Sources all_sources(const host::SystemFiles& files, const std::filesystem::path& plugin_dir,
                    std::chrono::milliseconds period);

// Reads all of them.
Snapshot take_snapshot(const Sources& sources);

}  // namespace paceline::monitor
