// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "config/option_table.h"

// Lists the words that a shell can complete, from the tables of commands and options.
namespace paceline::cli {

struct FlagWords {
  std::vector<std::string> spellings;  // all of them: --engine, --engines
  std::vector<std::string> offered;    // those that --help lists
  std::vector<std::string> values;     // names that the flag accepts; empty: a number, a text or a file
  std::string help;                    // a few words without characters that a shell interprets
  bool takes_value = false;
  bool takes_list = false;
};

struct CommandWords {
  std::vector<std::string> names;  // run, benchmark
  std::string help;
  std::vector<FlagWords> flags;
  std::vector<std::string> words;  // words it accepts without a flag; empty: files
};

std::vector<CommandWords> shell_commands();

// Names of this tool that the option accepts; empty: a number, a text or a file.
std::vector<std::string> values_of(const config::Option& option);

}  // namespace paceline::cli
