// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "result/rank_steps.h"
#include "result/training.h"
#include "workload/training/training_rank.h"

// What ranks tell at the end of a pass.
namespace paceline::workload {

// Where this rank sat, what its loader could deliver, and its steps.
result::RankSteps steps_of(TrainingRank& rank, std::vector<result::StepRow> rows);

// Rank 0 tells the steps of all, and what held-out data gave. A collective.
void tell_steps(TrainingRank& rank, std::vector<result::StepRow> rows,
                const std::vector<result::HeldOutFigures>& held_out);

// What only a worker knows of a training: backend, parameters, buckets, fingerprint.
result::Training known_here(TrainingRank& rank);

}  // namespace paceline::workload
