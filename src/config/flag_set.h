// SPDX-License-Identifier: MIT
// A command line that was read, not yet converted.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/raw_setting.h"

namespace paceline::config {

struct FlagSet {
  unsigned command = 0;
  std::vector<RawSetting> settings;
  std::vector<std::string> positionals;
  // Defaults of workloads that depend on where the command runs, such as the world of a launch.
  std::vector<RawSetting> implied;
  // Thrown by load_plan, plan_from_flags or command_settings together with the mistakes in values.
  std::vector<Diagnostic> problems;
  std::vector<std::string> remarks;  // lines about flags that set nothing, or replace others
  std::vector<std::string> meant;    // names of options that unknown flags are near to

  // Whether an option was written, by its name.
  [[nodiscard]] bool has(std::string_view option) const {
    return std::ranges::any_of(settings, [&](const RawSetting& one) { return one.name == option; });
  }
};

}  // namespace paceline::config
