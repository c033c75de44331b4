// SPDX-License-Identifier: MIT
// Adds the user's files to a check: inputs, their number, labels and expected outputs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/plan.h"
#include "pass/pass.h"
#include "run/artefacts/stages.h"

namespace paceline::run {

// One integer per line, or an integer .npy of one dimension. Throws Error(kData), and host::OutOfMemory
// before it reads labels that do not fit.
std::vector<std::int64_t> read_labels(const std::string& file);

// Adds what the user's files are for: inputs, their number, labels and expected outputs. Throws
// Error(kConfig) or Error(kData) naming the file that does not fit, PassFailure where that is found by the
// worker that makes them, or where it has no memory or time left. They lie in `folder`. Returns what was made
// of them.
pass::InputsReport prepare_check_files(const config::Case& c, Graph& graph,
                                       const std::filesystem::path& folder, const PreparePass& run,
                                       pass::PassSpec& pass);

}  // namespace paceline::run
