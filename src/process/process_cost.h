// SPDX-License-Identifier: MIT
// Runs a program and measures what one process of it costs: time, CPU time, memory.
#pragma once
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "base/maybe.h"

namespace paceline::process {

struct ProcessCost {
  double wall_ns = 0;
  double cpu_ns = 0;      // user and system, with the children that it waited for
  Count peak_bytes;       // resident, of the largest process among it and those children
  std::string failure{};  // "exit code 3", "killed by signal 9"; empty: exit code 0
  bool interrupted = false;
};

// Runs it to its end, without a terminal; its output goes to the end of `log`. No time limit. Throws Error
// for what cannot be started.
ProcessCost cost_of_process(const std::vector<std::string>& argv, const std::filesystem::path& log,
                            const std::atomic<bool>& interrupt);

}  // namespace paceline::process
