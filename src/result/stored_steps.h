// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "result/run_directory.h"
#include "result/stored/rank_steps.h"

namespace paceline::result {

// The steps of all ranks in the last repetition of a training case that came to its end, from its step file.
// Empty where there is none. Throws Error(kData) for a file that is not one of steps.
std::vector<RankSteps> read_rank_steps(const StoredRun& stored, const CaseResult& one);

}  // namespace paceline::result
