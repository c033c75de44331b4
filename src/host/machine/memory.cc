// SPDX-License-Identifier: MIT
#include "host/machine/memory.h"

#include <algorithm>
#include <optional>

#include "host/machine/cgroup.h"

namespace paceline::host {
namespace {

using Text = Maybe<std::string>;

// Fields of /proc/meminfo and /proc/PID/status are in kB (1024 bytes).
Count kib_field(const std::optional<std::string>& text, std::string_view key, std::string_view file) {
  const auto kib = text ? find_int_field(*text, key) : std::nullopt;
  if (!kib || *kib < 0) return Count::missing("no " + std::string(key) + " in /" + std::string(file));
  return *kib * 1024;
}

Count count_field(const std::optional<std::string>& text, std::string_view key) {
  const auto count = text ? find_int_field(*text, key) : std::nullopt;
  return count ? Count(*count) : Count::missing("no " + std::string(key) + " in /proc/meminfo");
}

Text choice_in(const SystemFiles& files, const std::string& file) {
  return {bracketed_choice(files.read(file).value_or("")), "the kernel has no transparent huge pages"};
}

ProcessMemory read_process_memory(const SystemFiles& files, const std::string& folder) {
  const std::string file = folder + "/status";
  const auto status = files.read(file);
  const auto of_files = kib_field(status, "RssFile", file), shared = kib_field(status, "RssShmem", file);
  return {kib_field(status, "VmRSS", file), kib_field(status, "VmHWM", file),
          of_files && shared ? Count(*of_files + *shared) : of_files};
}

}  // namespace

MemoryInfo read_memory(const SystemFiles& files) {
  const auto text = files.read("proc/meminfo");
  const auto kib = [&](std::string_view key) { return kib_field(text, key, "proc/meminfo"); };
  MemoryInfo memory;
  memory.total_bytes = kib("MemTotal");
  memory.available_bytes = kib("MemAvailable");
  memory.cgroup_limit_bytes = cgroup_memory_limit_bytes(files, Cgroups(files));
  memory.swap_total_bytes = kib("SwapTotal");
  memory.swap_free_bytes = kib("SwapFree");
  memory.hugepages_total = count_field(text, "HugePages_Total");
  memory.hugepages_free = count_field(text, "HugePages_Free");
  memory.hugepage_size_bytes = kib("Hugepagesize");
  memory.transparent_hugepages = choice_in(files, "sys/kernel/mm/transparent_hugepage/enabled");
  memory.transparent_hugepages_defrag = choice_in(files, "sys/kernel/mm/transparent_hugepage/defrag");
  return memory;
}

Count usable_bytes(const MemoryInfo& memory) {
  if (!memory.cgroup_limit_bytes) return memory.available_bytes;
  if (!memory.available_bytes) return memory.cgroup_limit_bytes;
  return std::min(*memory.available_bytes, *memory.cgroup_limit_bytes);
}

ProcessMemory process_memory(const SystemFiles& files) {
  return read_process_memory(files, "proc/self");
}

ProcessMemory process_memory(const SystemFiles& files, int pid) {
  return read_process_memory(files, "proc/" + std::to_string(pid));
}

Count memory_together(std::span<const ProcessMemory> processes) {
  std::int64_t own = 0, common = 0;
  for (const auto& one : processes) {
    if (!one.rss_bytes) return one.rss_bytes;
    if (!one.shared_bytes) return one.shared_bytes;
    own += *one.rss_bytes - *one.shared_bytes;
    common = std::max(common, *one.shared_bytes);
  }
  return own + common;
}

bool reset_rss_peak(const SystemFiles& files) {
  return files.write("proc/self/clear_refs", "5");
}

}  // namespace paceline::host
