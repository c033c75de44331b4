// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "host/noise/cpu_times.h"
#include "host/system_files.h"
#include "result/stored/case_result.h"

// Counts what disturbed this process between two moments (methodology: noise diagnostics).
namespace paceline::host {

struct ThreadCounters {
  std::int64_t run_ns = 0;   // on a CPU
  std::int64_t wait_ns = 0;  // ready, but waiting for one
  std::int64_t involuntary_switches = 0;
};

// Counters at one moment. Taking them needs some hundred microseconds, more with many threads, so it never
// happens inside a timed region.
struct NoiseSnapshot {
  CpuUse cpu;
  std::map<int, ThreadCounters> threads;  // by thread id; empty when not readable
  Count psi_cpu_some_us;                  // of the own cgroup where it has one, else of the machine
  Count throttled_periods;
  Number core_mhz;  // current clock of the fastest online CPU
};

NoiseSnapshot take_snapshot(const SystemFiles& files = SystemFiles{});
// Includes other processes: their CPU time is not foreign, and their threads are counted.
NoiseSnapshot take_snapshot_with(const std::vector<int>& process_ids);

// Counts the CPU time of other processes as ours, and not their threads.
NoiseSnapshot take_snapshot_beside(const std::vector<int>& process_ids, NoiseSnapshot own);

// Fills in running_frac (busiest thread), runq_wait_frac and nivcsw_per_s (worst thread), steal_frac,
// psi_cpu_some, foreign_cpu_frac, cgroup_throttled from the first and the last snapshot, freq_cv and
// core_mhz over all of them. What cannot be read is missing with a reason. Figures that follow from samples
// (drift, modes, tau) stay as they are.
result::Noise noise_over(std::span<const NoiseSnapshot> snapshots);
result::Noise noise_between(const NoiseSnapshot& before, const NoiseSnapshot& after);

// Adds up what the threads of this process ran and waited in some parts of a window.
class ThreadsInTurns {
 public:
  void begin();
  void end();  // of a part that has begun
  // Replaces the figures of threads, where there was a part.
  void fill(result::Noise& noise) const;

 private:
  std::map<int, ThreadCounters> at_begin_, sum_;
  std::int64_t begin_ns_ = 0, wall_ns_ = 0;
};

}  // namespace paceline::host
