// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>

#include "cli/context.h"

namespace paceline::cli {

// `profile --from` for a file of Nsight: FILE.csv of Nsight Compute, FILE.sqlite of Nsight Systems, and their
// reports (.ncu-rep, .nsys-rep), which their programs turn into those. Prints what is found; false: it is no
// such file.
bool profile_of_nsight(const std::filesystem::path& from, const Console& console);

}  // namespace paceline::cli
