// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

namespace paceline::host {

// Logical CPUs the calling thread may run on, ascending; empty when the kernel does not tell.
std::vector<int> current_affinity();

// The CPUs this process can keep busy at once: those of its affinity mask, one of each physical core first,
// and no more of them than the cgroup's quota (rounded up) pays for. At least one.
std::vector<int> allowed_cpus();

// `threads` of these, one of each physical core before second hardware threads; all of them when there are
// fewer.
std::vector<int> choose_cpus(long long threads);

// Binds every thread of this process (threads started later inherit from their parent) to the given set and
// reads it back. Throws Error(kUnsupported) naming the CPUs when the kernel refuses or grants less.
void pin_process(const std::vector<int>& cpus);

// Binds the calling thread alone; same errors.
void pin_thread(const std::vector<int>& cpus);

}  // namespace paceline::host
