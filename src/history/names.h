// SPDX-License-Identifier: MIT
// Finds runs by what people call them: a tag, a pin, a run id or its beginning.
#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "history/index.h"

namespace paceline::history {

// Throws Error(kUsage) for a name of no run or of several.
const Indexed& find_run(std::span<const Indexed> runs, const std::string& name);

// The folder of a run below `results`, for commands that take a run. Throws Error(kUsage), also for a run
// whose folder is gone.
std::filesystem::path resolve(const std::filesystem::path& results, const std::string& name,
                              const Warn& warn);

// Throws Error(kUsage) for a name of a tag or pin that could be taken for an option, a path or a run id.
void check_mark_name(const std::string& name);

}  // namespace paceline::history
