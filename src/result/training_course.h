// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

#include "result/aligned_steps.h"
#include "result/training.h"

namespace paceline::result {

// How training went, from every step, untimed ones too: epochs, first and last loss, skipped steps, and how
// long it all took. `steps` are not empty. samples_per_step: of all ranks.
void fill_course(Training& t, const std::vector<StepAcross>& steps, std::int64_t samples_per_step);

}  // namespace paceline::result
