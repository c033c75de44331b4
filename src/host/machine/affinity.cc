// SPDX-License-Identifier: MIT
#include "host/machine/affinity.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "host/system_files.h"

namespace paceline::host {
namespace {

constexpr int kMaxCpus = 1 << 14;

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

// A mask wide enough for any machine; cpu_set_t alone ends at 1024.
class CpuMask {
 public:
  CpuMask() : set_(CPU_ALLOC(kMaxCpus)) { CPU_ZERO_S(bytes(), set_.get()); }
  void add(int cpu) { CPU_SET_S(static_cast<std::size_t>(cpu), bytes(), set_.get()); }
  [[nodiscard]] bool has(int cpu) const {
    return CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes(), set_.get());
  }
  [[nodiscard]] cpu_set_t* get() { return set_.get(); }
  static std::size_t bytes() { return CPU_ALLOC_SIZE(kMaxCpus); }

 private:
  std::unique_ptr<cpu_set_t, FreeCpuSet> set_;
};

std::vector<int> affinity_of(pid_t thread) {
  CpuMask mask;
  std::vector<int> cpus;
  if (::sched_getaffinity(thread, CpuMask::bytes(), mask.get()) != 0) return cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (mask.has(cpu)) cpus.push_back(cpu);
  }
  return cpus;
}

[[noreturn]] void refuse(const std::vector<int>& cpus, const std::string& reason) {
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("cannot pin to CPUs {}: {}; this process may use {} (choose among these, or do not pin)",
                  format_cpu_list(cpus), reason, format_cpu_list(current_affinity())));
}

CpuMask mask_of(const std::vector<int>& cpus) {
  CpuMask mask;
  if (cpus.empty()) refuse(cpus, "the list is empty");
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= kMaxCpus) refuse(cpus, fmt::format("there is no CPU {}", cpu));
    mask.add(cpu);
  }
  return mask;
}

// Returns false when the thread has ended meanwhile.
bool pin(pid_t thread, const std::vector<int>& sorted) {
  CpuMask mask = mask_of(sorted);
  if (::sched_setaffinity(thread, CpuMask::bytes(), mask.get()) != 0) {
    if (errno == ESRCH) return false;
    refuse(sorted, std::strerror(errno));
  }
  const auto granted = affinity_of(thread);
  if (!granted.empty() && granted != sorted) {
    refuse(sorted, fmt::format("the kernel granted {} only", format_cpu_list(granted)));
  }
  return true;
}

std::vector<int> sorted_unique(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace

std::vector<int> affinity_of_process(int process_id) {
  return affinity_of(process_id);
}

std::vector<int> current_affinity() {
  return affinity_of(0);
}

void pin_process(const std::vector<int>& cpus) {
  const auto sorted = sorted_unique(cpus);
  pin(0, sorted);  // threads started from here on inherit the mask
  for (const auto& name : SystemFiles{}.list("proc/self/task")) {
    if (const auto id = parse_int(name)) pin(static_cast<pid_t>(*id), sorted);
  }
}

}  // namespace paceline::host
