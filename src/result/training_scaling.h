// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/case_result.h"

namespace paceline::result {

// Sets `scaling` of every measured training case that differs from another of fewer ranks in nothing else;
// the base is the one with the fewest (methodology: scaling efficiency). Two that did not run in turns have
// no interval; `resumed_utc`: when --resume went on. Pure.
void compare_scaling(const std::vector<CaseResult*>& cases, const std::vector<std::string>& resumed_utc = {});

}  // namespace paceline::result
