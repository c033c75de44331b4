// SPDX-License-Identifier: MIT
// Computes scaling efficiency against fewer ranks.
#pragma once
#include <string>
#include <vector>

#include "result/stored/case_result.h"

namespace paceline::result {

// Sets `scaling` of every measured training case that differs in nothing but the number of ranks from one
// with fewer; the base is the one with the fewest (methodology: scaling efficiency). Two cases that may not
// be compared have no interval. `resumed_utc`: when --resume continued the run. Pure.
void compare_scaling(const std::vector<CaseResult*>& cases, const std::vector<std::string>& resumed_utc = {});

// Why the efficiency of a case with a `scaling` claims nothing: the reason of its missing interval. Empty
// where it claims something.
std::string scaling_doubt(const CaseResult& one);

// The efficiency with its interval, as tables show it.
Estimate efficiency_of(const CaseResult& one);

}  // namespace paceline::result
