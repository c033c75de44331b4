// SPDX-License-Identifier: MIT
// Options as they were written, not yet converted.
#pragma once
#include <string>
#include <vector>

#include "config/diagnostic.h"

namespace paceline::config {

struct RawValue {
  std::string text;
  Place place;
  bool quoted = false;  // quoted text is never a number or a boolean
};

// One option as it was written, not yet converted.
struct RawSetting {
  std::string name;     // row name; for one entry of a map "env.NAME"
  std::string written;  // key or flag as typed
  Place place;
  std::vector<RawValue> values;
  bool is_list = false;
  bool on_command_line = false;
};

}  // namespace paceline::config
