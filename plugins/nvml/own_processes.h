// SPDX-License-Identifier: MIT
// Tells the processes of this run of the tool from those of others.
#pragma once
#include <sys/types.h>

#include <map>

namespace paceline::nvml_plugin {

// Ours: this process and all that the same coordinator has started. Ranks that a launcher starts on one host
// have a coordinator each.
class OwnProcesses {
 public:
  OwnProcesses();
  [[nodiscard]] bool has(pid_t process);

 private:
  pid_t root_;
  std::map<pid_t, bool> known_;
};

}  // namespace paceline::nvml_plugin
