// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "host/cpu_times.h"
#include "host/system_files.h"
#include "result/case_result.h"

// What disturbed this process between two moments (methodology: noise diagnostics).
namespace paceline::host {

struct ThreadCounters {
  std::int64_t run_ns = 0;   // on a CPU
  std::int64_t wait_ns = 0;  // ready, but waiting for one
  std::int64_t involuntary_switches = 0;
};

// Counters at one moment; some hundred microseconds to take and more with many threads: never inside a timed
// region. region.
struct NoiseSnapshot {
  CpuUse cpu;
  std::map<int, ThreadCounters> threads;  // by thread id; empty when not readable
  result::Count psi_cpu_some_us;          // own cgroup's where it has one, else the machine's
  result::Count throttled_periods;
  result::Count major_faults;  // of this process
  result::Number core_mhz;     // the fastest online CPU's clock now
};

NoiseSnapshot take_snapshot(const SystemFiles& files = SystemFiles{});
// The same for this process and others together: their CPU time is not foreign, their threads are looked at.
NoiseSnapshot take_snapshot_with(const std::vector<int>& process_ids);

// Fills runq_wait_frac and nivcsw_per_s (worst thread), steal_frac, psi_cpu_some, foreign_cpu_frac,
// cgroup_throttled from the first and the last snapshot, and freq_cv over all of them. What cannot be read is
// missing with a reason. Figures that follow from samples (drift, modes, tau) are not touched.
result::Noise noise_over(std::span<const NoiseSnapshot> snapshots);
result::Noise noise_between(const NoiseSnapshot& before, const NoiseSnapshot& after);

// Page faults that had to read a disk, between two moments.
result::Count major_faults_between(const NoiseSnapshot& before, const NoiseSnapshot& after);

}  // namespace paceline::host
