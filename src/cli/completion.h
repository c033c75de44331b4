// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

// Writes the scripts that complete commands, options and their values in a shell; file names elsewhere.
namespace paceline::cli {

std::vector<std::string> completion_shells();

// Throws Error(kUsage) for another shell.
std::string completion_script(const std::string& shell);

}  // namespace paceline::cli
