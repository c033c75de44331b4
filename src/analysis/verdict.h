// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/stored/run_result.h"

namespace paceline::analysis {

// Words the result of a run in one sentence: what answers the question best, how many cases were measured,
// and how valid they are.
std::string verdict_sentence(const result::RunResult& run);

}  // namespace paceline::analysis
