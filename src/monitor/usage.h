// SPDX-License-Identifier: MIT
// Rates between two snapshots, from their counters.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "monitor/snapshot.h"

namespace paceline::monitor {

// Shares of the time; missing between equal snapshots. As in `top`, waiting for disks is idle time.
struct CpuUsage {
  std::string name;  // "0"
  std::optional<double> busy, steal;
};
std::vector<CpuUsage> cpus(const Snapshot& now, const Snapshot& before);  // in the order of their numbers
CpuUsage all_cpus(const Snapshot& now, const Snapshot& before);

// Bytes per second into the machine and out of it; of a disk the share of time in which it worked.
struct Traffic {
  std::string name;
  std::optional<double> in, out, busy;
};
std::vector<Traffic> links(const Snapshot& now,
                           const Snapshot& before);  // that ever carried a byte, without the loopback
std::vector<Traffic> disks(const Snapshot& now, const Snapshot& before);  // that ever worked

struct GpuUsage {
  std::string name, model;  // "0", "NVIDIA H200"
  std::optional<double> busy, clock_hz, watts, celsius, memory_bytes;
  std::string slowed_by;  // "power cap"; "none": nothing slows it; empty: not known
};
std::vector<GpuUsage> gpus(const Snapshot& now);

}  // namespace paceline::monitor
