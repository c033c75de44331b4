// SPDX-License-Identifier: MIT
// Reads the sides of a comparison that the user named as folders or files.
#pragma once
#include <string>
#include <vector>

#include "cli/context.h"
#include "compare/side_run.h"
#include "config/settings.h"

namespace paceline::cli {

// The names with that of --baseline first; tags, pins and ids of runs below results/ become their folders.
std::vector<std::string> named_sides(std::vector<std::string> names, const config::Settings& options,
                                     const Console& console);

// Throws Error(kUsage) for fewer than two names and for one that does not exist, Error(kData) for what is no
// run. Says which run of a folder of several was taken.
std::vector<compare::SideRun> stored_sides(const std::vector<std::string>& names, const Console& console);

// Throws Error(kUsage) for fewer than two names, for too many, and for one that does not exist.
void require_sides(const std::vector<std::string>& names);

// "A", "B", …
std::string side_name(std::size_t side);

}  // namespace paceline::cli
