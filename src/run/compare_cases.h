// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "run/case_run.h"

namespace paceline::run {

// What cases say of each other, anew: each against its baseline, training against the case of the fewest
// ranks that does the same. `resumed_utc`: when --resume went on with the run; what ran before and after is
// no pair.
void compare_cases(std::vector<CaseRun>& cases, const std::vector<std::string>& resumed_utc);

}  // namespace paceline::run
