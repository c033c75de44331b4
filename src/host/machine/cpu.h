// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/maybe.h"
#include "host/system_files.h"

namespace paceline::host {

// The CPUs of this machine, and which of them this process may use.
struct CpuInfo {
  Maybe<std::string> model, vendor, microcode;
  Count family, model_number, stepping;
  Count sockets, cores, threads_per_core;  // of the online CPUs
  std::vector<int> online;                 // logical CPU numbers
  std::vector<int> affinity;               // those that this thread may run on
  Number cgroup_quota_cpus;                // CPU time in CPUs, may be a fraction; missing: "no limit"
  std::vector<std::string> isa;            // vector and matrix extensions present, /proc/cpuinfo names
  std::vector<std::string> timing_flags;   // constant_tsc, nonstop_tsc, hypervisor
  Maybe<std::string> governor, frequency_driver;
  Maybe<bool> turbo;
  std::map<std::string, std::string> mitigations;  // vulnerability -> state
  Count numa_nodes, llc_bytes;                     // llc: one last-level cache
  [[nodiscard]] bool has_isa(std::string_view name) const;
  [[nodiscard]] bool virtualized() const;
};

CpuInfo read_cpu(const SystemFiles& files, std::vector<int> affinity);
CpuInfo read_cpu(const SystemFiles& files = SystemFiles{});  // with this thread's affinity

// How many threads can compute at once: min(CPUs in the affinity mask, quota rounded down), but at least
// 1. A thread beyond the quota would stop them all for a part of every period.
int allowed_cpu_count(std::size_t affinity_cpus, const Number& quota_cpus);
int allowed_cpu_count(const CpuInfo& cpu);

// Sums the last-level caches of these CPUs, each counted once; 0 if none is known.
std::int64_t last_level_bytes(const SystemFiles& files, const std::vector<int>& cpus);

// Reorders CPUs: one of each physical core first, then second hardware threads. CPUs of unknown topology
// count as cores.
std::vector<int> cores_first(const SystemFiles& files, const std::vector<int>& cpus);

}  // namespace paceline::host
