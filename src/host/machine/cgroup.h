// SPDX-License-Identifier: MIT
// Reads quotas and limits of control groups, version 1 and 2.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/maybe.h"
#include "host/system_files.h"

namespace paceline::host {

// Folders of one hierarchy, upwards. The first is of the process's own group, or of an ancestor where that is
// not visible.
struct GroupFolders {
  std::vector<std::string> upwards;
  bool own_first = false;
};

// The control-group folders of this process, own group first, up to the top that is visible here. Paths are
// for SystemFiles. Reads version 1, version 2 and the hybrid of both; a container whose group is not mounted
// only sees the top of the mount.
class Cgroups {
 public:
  explicit Cgroups(const SystemFiles& files);
  // Controllers are cpu, cpuset, memory.
  [[nodiscard]] const std::vector<std::string>& v1(std::string_view controller) const {
    return folders_of(controller).upwards;
  }
  [[nodiscard]] bool sees_own(std::string_view controller) const { return folders_of(controller).own_first; }
  [[nodiscard]] const std::vector<std::string>& v2() const { return v2_; }

 private:
  struct Hierarchy {
    std::string controller;
    GroupFolders folders;
  };
  [[nodiscard]] const GroupFolders& folders_of(std::string_view controller) const;
  std::vector<Hierarchy> v1_;
  std::vector<std::string> v2_;
};

// CPU time that the tightest group on the way up allows, in CPUs (may be a fraction); missing: "no limit".
Number cgroup_cpu_quota(const SystemFiles& files, const Cgroups& groups);

// The tightest memory limit on the way up; missing: "no limit".
Count cgroup_memory_limit_bytes(const SystemFiles& files, const Cgroups& groups);

// How often a quota has stopped a group on the way up, since the groups were created.
Count cgroup_throttled_periods(const SystemFiles& files, const Cgroups& groups);

// How long a quota has stopped a group on the way up, summed over CPUs, since the groups were created.
Number cgroup_throttled_ns(const SystemFiles& files, const Cgroups& groups);

// Kills by the out-of-memory killer in our own group since it was created; in version 2 those of the groups
// below count too, so that an ancestor stands in where ours is not visible. Version 1 counts each group
// alone: the folder of an ancestor says nothing.
Count cgroup_oom_kills(const SystemFiles& files, const Cgroups& groups);

}  // namespace paceline::host
