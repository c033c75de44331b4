// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "config/flag_set.h"
#include "config/settings.h"

// Reads the command line with the option table. It is our own parser because CLI11 stops at the first error,
// suggests no names and converts too early (010 becomes 8), so that flags and plan keys would be validated in
// two ways.
namespace paceline::config {

// `arguments` follow the name of the command. Never throws. Accepts "--name value", "--name=value", "-o
// value", "--flag", "--no-flag", lists "1,8", "--section.key=value"; "--" ends the flags.
FlagSet parse_flags(std::span<const std::string> arguments, unsigned command);

// The command-line-only options of a command (yes, dry_run, json, …) with their defaults. Throws
// ConfigErrors(kUsage).
Settings command_settings(const FlagSet& flags);

// The options part of `paceline COMMAND --help`, 100 columns wide.
std::string render_help(unsigned command);

}  // namespace paceline::config
