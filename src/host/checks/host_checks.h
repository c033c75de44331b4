// SPDX-License-Identifier: MIT
// The checks of this machine that `validate` shows.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "base/rapl.h"
#include "host/checks/checks.h"
#include "host/checks/disk_speed.h"
#include "host/checks/network_checks.h"
#include "host/machine/nvml.h"
#include "host/noise/idle_gate.h"
#include "host/system_files.h"

namespace paceline::host {

struct DiskSpace {
  std::int64_t total_bytes = 0;
  std::int64_t available_bytes = 0;
};
// Space of the file system that holds the path or its nearest existing parent.
std::optional<DiskSpace> disk_space(const std::filesystem::path& path);

struct HostCheckOptions {
  std::filesystem::path output_dir = "results";
  int ranks = 1;           // with more than one, shared memory is required
  int loader_workers = 4;  // of each rank
  double look_s = 2;       // how long other processes are watched
  SystemFiles files{};
  std::vector<int> affinity;  // default: this thread's
  std::string nvml = kNvmlLibrary;
  std::filesystem::path powercap = rapl::powercap_folder();
  IdleGateSeams seams = real_idle_gate_seams();
  NetworkSeams network{};
  std::function<std::optional<DiskSpace>(const std::filesystem::path&)> space = disk_space;
  std::function<DiskSpeed(const std::filesystem::path&, std::int64_t room)> disk = measure_disk;
  int port = rendezvous_port();
};

// Checks whether this machine is fit for measuring: cpu, frequency, memory, GPUs, their state, health and
// links, clock, neighbours, huge pages, shared memory, swap, time namespace, limits, host name, rendezvous
// port, synchronisation, InfiniBand, security settings, output folder. Nothing is read before a row runs.
std::vector<Check> host_checks(const HostCheckOptions& options);

}  // namespace paceline::host
