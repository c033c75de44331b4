// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "config/flag_set.h"
#include "config/option.h"
#include "config/settings.h"

// Reads the command line with the option table. It is our own parser because CLI11 stops at the first error,
// suggests no names and converts too early (010 becomes 8), so that flags and plan keys would be validated in
// two ways.
namespace paceline::config {

inline constexpr std::size_t kHelpWidth = 100;  // columns, if the terminal does not say

// `arguments` follow the name of the command. Never throws. Accepts "--name value", "--name=value", "-o
// value", "--flag", "--no-flag", lists "1,8", "--section.key=value"; "--" ends the flags.
FlagSet parse_flags(std::span<const std::string> arguments, unsigned command);

// The command-line-only options of a command (yes, dry_run, json, …) with their defaults. Throws
// ConfigErrors(kUsage).
Settings command_settings(const FlagSet& flags);
// Reads the options of the first level of a plan (expect, output_dir, …), without a plan. Throws as above.
Settings plan_level_settings(const FlagSet& flags);

// The options part of `paceline COMMAND --help`, as wide as that.
std::string render_help(unsigned command, std::size_t width = kHelpWidth);

// The spellings of an option that this help lists; none: it leaves the option out.
std::vector<std::string> listed_flags(const Option& option, unsigned command);

}  // namespace paceline::config
