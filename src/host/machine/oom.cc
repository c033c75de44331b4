// SPDX-License-Identifier: MIT
#include "host/machine/oom.h"

#include <fmt/format.h>

#include "host/machine/cgroup.h"

namespace paceline::host {
namespace {

Count machine_kills(const SystemFiles& files) {
  const auto text = files.read("proc/vmstat");
  const auto kills = text ? find_int_field(*text, "oom_kill") : std::nullopt;
  return kills ? Count(*kills) : Count::missing("no oom_kill in /proc/vmstat");
}

std::int64_t rise(const Count& before, const Count& after) {
  return before && after ? *after - *before : 0;
}

}  // namespace

OomCounters read_oom_counters(const SystemFiles& files) {
  return {machine_kills(files), cgroup_oom_kills(files, Cgroups(files))};
}

std::optional<std::string> oom_evidence(const OomCounters& before, const OomCounters& after) {
  const std::int64_t cgroup = rise(before.cgroup, after.cgroup);
  if (cgroup > 0) return fmt::format("oom_kill of its memory cgroup rose by {}", cgroup);
  if (before.cgroup && after.cgroup) return std::nullopt;  // the machine's counter rose for another group
  const std::int64_t machine = rise(before.machine, after.machine);
  if (machine > 0) return fmt::format("oom_kill in /proc/vmstat rose by {}", machine);
  return std::nullopt;
}

}  // namespace paceline::host
