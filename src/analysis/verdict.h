// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/stored/run_result.h"

namespace paceline::analysis {

// The answer of a run, the same in every form, a line each: that the run is unfinished, then the closing
// sentence, or what the fastest case of each model does where there is none. Empty for sweeps of collectives.
std::vector<std::string> headline(const result::RunResult& run);

// "8 of 10 cases measured (7 of grade A, 1 of grade B)"
std::string counts_text(const result::RunResult& run);

}  // namespace paceline::analysis
