// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace paceline::cli {

// Writes paceline.1 in the macros of man(7), from the tables of commands, options and exit codes.
std::string man_page();

}  // namespace paceline::cli
