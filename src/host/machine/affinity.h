// SPDX-License-Identifier: MIT
// Reads and sets the CPUs that a thread may run on.
#pragma once
#include <vector>

namespace paceline::host {

// Logical CPUs that the calling thread may run on, ascending; empty when the kernel does not tell.
std::vector<int> current_affinity();

// Returns the CPUs that the main thread of another process may run on.
std::vector<int> affinity_of_process(int process_id);

// Binds every thread of this process (threads started later inherit from their parent) to these CPUs and
// checks the result. Throws Error(kUnsupported) naming the CPUs when the kernel refuses or grants fewer.
void pin_process(const std::vector<int>& cpus);

}  // namespace paceline::host
