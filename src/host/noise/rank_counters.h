// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/machine/nvml.h"
#include "host/noise/noise.h"
#include "result/stored/rank_evidence.h"

// Counts what disturbs one rank between two moments: on its threads, and on the CPUs that it may use.
namespace paceline::host {

// CPU time of another process so far, where it ran last.
struct ProcessUse {
  std::string name;
  std::int64_t ticks = 0;
  int cpu = -1;
};

// Counters at one moment. Taking them needs about a millisecond, more with many processes, so it never
// happens inside a timed region.
struct RankCounters {
  NoiseSnapshot own;  // of this process
  // CPUs that this process may use; own_cpu_ns is that of all ranks that may use some of them.
  CpuUse cpus;
  std::vector<int> cpu_numbers;
  std::int64_t system_ns = 0, minor_faults = 0, major_faults = 0;
  Number throttled_ns;
  std::map<int, ProcessUse> others;  // by process id: all that are no ranks of this host
};

// `ranks`: the process ids of all ranks of this host, this process included or not.
RankCounters take_rank_counters(const std::vector<int>& ranks, const SystemFiles& files = SystemFiles{});

// Mean clock of these CPUs now.
Number mean_mhz(const std::vector<int>& cpus, const SystemFiles& files = SystemFiles{});

// Clocks sampled between two moments; fewer than three are no evidence.
struct ClockSamples {
  std::vector<Number> core_mhz;
  std::vector<GpuState> device;
  std::string no_device{};  // why there are none of a GPU
};

// Evidence per step of `steps` steps between two moments.
result::RankEvidence evidence_between(const RankCounters& before, const RankCounters& after,
                                      std::int64_t steps, const ClockSamples& clocks);

}  // namespace paceline::host
