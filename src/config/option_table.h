// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

// The one table of options. Plan keys, flags, conversion, validation, --help, JSON Schema and docs/reference
// derive from it.
namespace paceline::config {

struct OptionGroup {
  std::string_view title;
  std::vector<Option> options;
};

std::span<const OptionGroup> option_groups();
// Rows of what plug-ins declare, in place of those set before, to which pointers become invalid
// (config/declared_options.h).
void set_declared_rows(std::span<const Option> rows);
// Sets choices that other layers know, the default first, in every row of this name that one of the commands
// has. Their storage must last.
void set_choices(std::string_view option, unsigned commands, std::span<const Choice> choices);
// The rows of some kinds, in the order of the table.
std::vector<const Option*> options_of(unsigned kinds);

// The row of a plan key (name or alias) for the given kinds; nullptr when there is none. Each kind may have
// its own row of the same name.
const Option* find_option(std::string_view key, unsigned kinds);
// The row of a flag ("--batch", "-c", "--stop.t_max_s"; '_' equals '-') for a command; nullptr when there is
// none.
const Option* find_flag(std::string_view flag, unsigned command);

// Whether a command takes the option's flags: infer takes those of inference only, train those of training.
bool serves(const Option& option, unsigned command);

// Whether the flag, as a command has it, counts what is in one process of a launch.
bool is_of_each_process(std::string_view flag, unsigned command);

// "batch" for batch_sizes: the name for one case's value, and of the option in Case::settings.
std::string_view singular(const Option& option);
std::vector<std::string> alias_names(const Option& option);
// Every spelling, the longest first: --batch-sizes, --batch. For one command or for all.
std::vector<std::string> flag_names(const Option& option, unsigned command = kAnyCommand);

std::string kinds_text(unsigned kinds);          // "inference, training"
std::string choices_text(const Option& option);  // "fp32, bf16"

// A spelling of another option with a fixed value: channels_last: true, --bf16.
struct Shorthand {
  std::string_view key;   // plan key, or flag when it starts with "--"
  std::string_view when;  // the text that triggers it
  std::string_view option;
  std::string_view value;
};
std::span<const Shorthand> shorthands();

}  // namespace paceline::config
