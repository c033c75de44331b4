// SPDX-License-Identifier: MIT
// Finds how machine and software of two runs differ, and which of that may explain a change by itself.
#pragma once
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/matching.h"
#include "result/stored/run_result.h"

namespace paceline::compare {

// Hardware, clocks, system and versions, what blocks first. Facts that one of the runs does not know are left
// out. `side`: index of `b`.
std::vector<EnvironmentDifference> environment_differences(const result::RunResult& a,
                                                           const result::RunResult& b, std::size_t side);

// Versions of the libraries that matched cases of one engine used, each difference once.
std::vector<EnvironmentDifference> library_differences(const std::vector<MatchedCase>& cases,
                                                       std::size_t side);

}  // namespace paceline::compare
