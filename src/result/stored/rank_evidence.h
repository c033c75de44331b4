// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "base/maybe.h"
#include "result/stored/device_slowdown.h"

namespace paceline::result {

// Disturbances of one rank during its timed steps: counters are read before and after them, clocks are
// sampled twice a second between steps.
struct RankEvidence {
  Number runq_wait_ns;  // per step: of the thread that waited longest for a CPU
  Number cpu_ns;        // per step: CPU time of all threads
  Number system_ns;     // per step: the part of it in the kernel
  Number minor_faults;  // per step: pages that the kernel had to map
  Number major_faults;  // per step: pages that were read from a disk
  Number
      throttled_ns;  // per step, summed over CPUs: the quota of the control group kept threads from running
  // The next three are of the CPUs that the rank may use.
  Number steal_frac;    // stolen / (busy + stolen): what the hypervisor kept of the time there was work
  Number foreign_frac;  // of their time: used by processes that are no ranks of this host
  Number core_mhz;      // mean of their clocks; missing below three samples
  Number device_mhz;    // mean clock of its GPU
  std::vector<DeviceSlowdown> device_slowdowns;  // what kept that clock down, the most frequent first
  std::string foreign_process;  // the one that used most of it: "stress (pid 4711)"; empty: none was seen
};

// LateCause::name.
namespace late_cause {
inline constexpr const char* kForeignProcess = "foreign_process";
inline constexpr const char* kCpuWait = "cpu_wait";
inline constexpr const char* kSteal = "steal";
inline constexpr const char* kCpuQuota = "cpu_quota";
inline constexpr const char* kClock = "clock";
inline constexpr const char* kDeviceClock = "device_clock";
inline constexpr const char* kPageFaults = "page_faults";
inline constexpr const char* kDiskReads = "disk_reads";
inline constexpr const char* kLoader = "loader";
inline constexpr const char* kCpuTime = "cpu_time";
}  // namespace late_cause

// Why a rank is late: evidence in which it differs from the other ranks.
struct LateCause {
  std::string name;      // one of late_cause, or of a newer version
  Number explains_ns;    // per step, of its lateness
  std::string evidence;  // in words
};

}  // namespace paceline::result
