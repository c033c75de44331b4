// SPDX-License-Identifier: MIT
// The table of commands, and the help that follows from it.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit_code.h"
#include "cli/context.h"
#include "config/flags.h"

namespace paceline::cli {

// A command is one row; `paceline --help` and docs/reference derive from it.
struct Command {
  std::string_view name;
  std::string_view alias;    // also accepted; empty: none
  std::string_view usage;    // after the name
  std::string_view summary;  // empty: internal, not listed
  unsigned flags;            // a bit of config::Option::commands; 0: no options
  ExitCode (*run)(const Context&);
};

std::span<const Command> commands();

// Finds and runs the command. Throws Error(kUsage) with the nearest name.
ExitCode dispatch(const std::vector<std::string>& arguments);

std::string command_help(const Command& command, std::size_t width = config::kHelpWidth);
std::string commands_markdown();           // docs/reference/commands.md
std::vector<std::string> schema_topics();  // topics of the command schema
std::vector<std::string> completion_shells();

// One file each.
ExitCode run_cases(const Context& context);  // run, infer, train, comm
ExitCode profile_command(const Context& context);
ExitCode validate_command(const Context& context);
ExitCode attach_command(const Context& context);
ExitCode monitor_command(const Context& context);
ExitCode compare_command(const Context& context);
ExitCode tune_command(const Context& context);
ExitCode report_command(const Context& context);
ExitCode history_command(const Context& context);
ExitCode schema_command(const Context& context);
ExitCode export_command(const Context& context);
ExitCode build_command(const Context& context);
ExitCode completion_command(const Context& context);
ExitCode worker_command(const Context& context);  // internal

}  // namespace paceline::cli
