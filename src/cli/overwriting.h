// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <span>
#include <string_view>

#include "config/flags.h"

namespace paceline::cli {

// Throws Error(kUsage) where one of `outputs`, which the option `output` makes, cannot be a file (too long a
// name, links in a circle), is a file that another flag or an argument of the command names, or a part of a
// model that one names. Spelling and links do not matter.
void check_overwrites_no_input(const config::FlagSet& flags, std::string_view output,
                               std::span<const std::filesystem::path> outputs);

}  // namespace paceline::cli
