// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

#include "result/figures/aligned_steps.h"
#include "result/stored/training.h"

namespace paceline::result {

// Fills in the figures of held-out data.
void add_held_out(std::vector<EpochFigures>& epochs, const std::vector<HeldOutFigures>& held_out);

// Figures of the epochs before the one of the last step, which an interruption may have cut. Throws as
// aligned() does.
std::vector<EpochFigures> finished_epochs(const std::vector<RankSteps>& tables,
                                          std::int64_t samples_per_step);

// Fills in how training went over every step, untimed ones too: epochs, first and last loss, skipped steps,
// and the total time. `steps` must not be empty; samples_per_step is that of all ranks.
void fill_course(Training& t, const std::vector<StepAcross>& steps, std::int64_t samples_per_step);

}  // namespace paceline::result
