// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>

#include "host/system_files.h"
#include "result/maybe.h"

namespace paceline::host {

// Clock ticks of all CPUs together since boot (/proc/stat). Stolen and guest time is no work of this
// machine's tasks.
struct CpuTicks {
  std::int64_t busy = 0;   // user, nice, system, irq, softirq
  std::int64_t steal = 0;  // taken by the hypervisor
  std::int64_t all = 0;    // busy + steal + idle + iowait
  int cpus = 0;
};
std::optional<CpuTicks> read_cpu_ticks(const SystemFiles& files);

// One moment: wall clock, the machine's ticks, CPU time of this process (all threads, also ended ones).
struct CpuUse {
  std::int64_t wall_ns = 0;
  std::int64_t own_cpu_ns = 0;
  std::int64_t tick_ns = 10'000'000;
  std::optional<CpuTicks> ticks;
};
// CPU time of another process so far, all threads; 0 when it has ended.
std::int64_t process_cpu_ns(int process_id);
CpuUse cpu_use_now(const SystemFiles& files);

// Shares of all CPU time between two moments; missing when the window has too few ticks to divide by.
result::Number steal_frac(const CpuUse& before, const CpuUse& after);
// (busy - own) / all, not below 0: what everybody else, the kernel's interrupts included, used of the
// machine.
result::Number foreign_cpu_frac(const CpuUse& before, const CpuUse& after);
// The same in whole CPUs: 0.3 means that others kept a third of one CPU busy.
result::Number foreign_cores(const CpuUse& before, const CpuUse& after);

}  // namespace paceline::host
