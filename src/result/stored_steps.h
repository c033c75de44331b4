// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "result/rank_steps.h"
#include "result/run_directory.h"

namespace paceline::result {

// The steps of all ranks in the last repetition of a training case that came to its end, from rank<k>.jsonl;
// without facts of the ranks but their numbers. Empty where they are not stored. Throws Error(kData) for a
// file that is not one of steps.
std::vector<RankSteps> read_rank_steps(const StoredRun& stored, const CaseResult& one);

}  // namespace paceline::result
