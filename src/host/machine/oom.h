// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "base/maybe.h"
#include "host/system_files.h"

namespace paceline::host {

// How often the out-of-memory killer struck, on this machine since boot and in our control group since it
// exists.
struct OomCounters {
  Count machine;  // oom_kill of /proc/vmstat
  Count cgroup;   // oom_kill of memory.events (v2) or memory.oom_control (v1)
};
OomCounters read_oom_counters(const SystemFiles& files = SystemFiles{});

// A sentence with the evidence when a counter rose; empty when none did or none is readable. The counter of
// our group decides where it is readable: it counts every kind of kill of the group's processes. Only meant
// for a process that died of a SIGKILL that nobody here sent: a kill of another process of the group (or,
// where only the machine's counter is readable, of the machine) in between cannot be told apart.
std::optional<std::string> oom_evidence(const OomCounters& before, const OomCounters& after);

}  // namespace paceline::host
