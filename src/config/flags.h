// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/diagnostic.h"
#include "config/settings.h"

// Reads the command line with the option table. It is our own parser because CLI11 stops at the first error,
// suggests no names and converts too early (010 becomes 8), so that flags and plan keys would be validated in
// two ways.
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

struct FlagSet {
  unsigned command = 0;
  std::vector<RawSetting> settings;
  std::vector<std::string> positionals;
  // Defaults of workloads that depend on where the command runs, such as the world of a launch.
  std::vector<RawSetting> implied;
  // Thrown by load_plan, plan_from_flags or command_settings together with the mistakes in values.
  std::vector<Diagnostic> problems;
  std::vector<std::string> remarks;  // lines about flags that set nothing
};

// `arguments` follow the name of the command. Never throws. Accepts "--name value", "--name=value", "-o
// value", "--flag", "--no-flag", lists "1,8", "--section.key=value"; "--" ends the flags.
FlagSet parse_flags(std::span<const std::string> arguments, unsigned command);

// The command-line-only options of a command (yes, dry_run, json, …) with their defaults. Throws
// ConfigErrors(kUsage).
Settings command_settings(const FlagSet& flags);

// The options part of `paceline COMMAND --help`, 100 columns wide.
std::string render_help(unsigned command);

}  // namespace paceline::config
