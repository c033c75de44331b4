// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "base/maybe.h"
#include "host/system_files.h"

namespace paceline::host {

// The machine's memory, and what of it this process may use.
struct MemoryInfo {
  Count total_bytes, available_bytes;
  Count cgroup_limit_bytes;  // missing: "no limit"
  Count swap_total_bytes, swap_free_bytes;
  Count hugepages_total, hugepages_free, hugepage_size_bytes;
  Maybe<std::string> transparent_hugepages;  // always | madvise | never
  Maybe<std::string> transparent_hugepages_defrag;
};
MemoryInfo read_memory(const SystemFiles& files);

// Memory that this process can still allocate: what is available, or the cgroup's limit if less.
Count usable_bytes(const MemoryInfo& memory);

struct ProcessMemory {
  Count rss_bytes;       // resident now
  Count rss_peak_bytes;  // high-water mark since start or since the last reset
  Count shared_bytes;    // of the resident ones, pages of files and of shared memory
};
ProcessMemory process_memory(const SystemFiles& files = SystemFiles{});  // of this process
ProcessMemory process_memory(const SystemFiles& files, int pid);         // of another one

// Resident memory of processes of one program, which have pages of files in common: the sum of their own
// pages, and the largest share of common ones once. Missing if one of them cannot be read.
Count memory_together(std::span<const ProcessMemory> processes);

// Resets this process's high-water mark to what is resident now. Returns false when the kernel refuses, so
// that peaks are since start.
bool reset_rss_peak(const SystemFiles& files = SystemFiles{});

}  // namespace paceline::host
