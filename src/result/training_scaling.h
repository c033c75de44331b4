// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "result/case_result.h"

namespace paceline::result {

// Sets `scaling` of every measured training case that differs from another of fewer ranks in nothing else;
// the base is the one with the fewest (methodology: scaling efficiency). Pure.
void compare_scaling(const std::vector<CaseResult*>& cases);

}  // namespace paceline::result
