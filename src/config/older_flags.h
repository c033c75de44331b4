// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "config/older_flag.h"

// Maps words of other tools to what is written here instead: for messages and docs/reference/older-flags.md.
namespace paceline::config {

std::span<const OlderFlag> older_flags();

// Whether the flag of another tool asks for what is done here anyway.
bool agrees_with_older_flag(std::string_view flag, std::string_view value, unsigned command);

// A command of another tool.
struct OlderCommand {
  std::string_view name, here;
};
std::span<const OlderCommand> older_commands();

// "unknown option (benchmark_app); here: …"; empty for a flag of no known tool. A range in `value` is written
// as the list that it stands for.
std::string older_flag_message(std::string_view flag, std::string_view value, unsigned command);

// Suggests a command for another tool's; empty if it is unknown.
std::string older_command_message(std::string_view name);

// Our name for a value that is accepted as another tool spells it; else empty.
std::string_view taken_value(std::string_view option, std::string_view value);

// Our name for another tool's value of an option: "onnxruntime" for ort of `engines`; else empty.
std::string_view older_value(std::string_view option, std::string_view value);

// "1,2,3,4" for "1:4" and "1:4:1"; empty where the text is not a range of a few whole numbers.
std::string list_of_range(std::string_view text);

// The name of a command from its bit: "infer".
std::string_view command_name(unsigned command);

// The first command that has the option; empty for none.
std::string_view command_with(std::string_view flag);

std::string older_flags_markdown();

}  // namespace paceline::config
