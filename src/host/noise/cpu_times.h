// SPDX-License-Identifier: MIT
// Measures how busy the CPUs are: own, foreign and stolen time.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/maybe.h"
#include "host/system_files.h"

namespace paceline::host {

// Clock ticks of all CPUs since boot (/proc/stat). Stolen and guest time is not work of this machine.
struct CpuTicks {
  std::int64_t busy = 0;   // user, nice, system, irq, softirq
  std::int64_t steal = 0;  // taken by the hypervisor
  std::int64_t all = 0;    // busy + steal + idle + iowait
  int cpus = 0;
};
std::optional<CpuTicks> read_cpu_ticks(const SystemFiles& files);
// Reads the ticks of these CPUs alone; returns nothing when one of them is not counted.
std::optional<CpuTicks> read_cpu_ticks(const SystemFiles& files, const std::vector<int>& cpus);

// One moment: wall clock, the machine's ticks, and CPU time of this process (all threads, also ended ones).
struct CpuUse {
  std::int64_t wall_ns = 0;
  std::int64_t own_cpu_ns = 0;
  std::int64_t tick_ns = 10'000'000;
  std::optional<CpuTicks> ticks;
};
// CPU time of all threads of another process so far; 0 when it has ended.
std::int64_t process_cpu_ns(int process_id);
CpuUse cpu_use_now(const SystemFiles& files);

// Stolen share of all CPU time between two moments; missing when the window has too few ticks.
Number steal_frac(const CpuUse& before, const CpuUse& after);
// (busy - own) / all, but not below 0: the share of the machine used by everything else, also interrupts.
Number foreign_cpu_frac(const CpuUse& before, const CpuUse& after);
// Converts it to CPUs: 0.3 means that others kept a third of one CPU busy.
Number foreign_cores(const CpuUse& before, const CpuUse& after);

}  // namespace paceline::host
