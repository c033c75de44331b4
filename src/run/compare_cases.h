// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "run/case_run.h"

namespace paceline::run {

// What cases say of each other, anew: each against its baseline, training against the case of the fewest
// ranks that does the same.
void compare_cases(std::vector<CaseRun>& cases);

}  // namespace paceline::run
