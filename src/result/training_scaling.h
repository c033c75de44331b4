// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/case_result.h"

namespace paceline::result {

// Sets `scaling` of every measured training case that differs from another of fewer ranks in nothing else;
// the base is the one with the fewest (methodology: scaling efficiency). Two of which nothing may be said
// have no interval; `resumed_utc`: when --resume went on. Pure.
void compare_scaling(const std::vector<CaseResult*>& cases, const std::vector<std::string>& resumed_utc = {});

// Why the efficiency of a case with a `scaling` claims nothing; empty where it does. `base`: the case of
// fewer ranks where it is at hand, because files of version 1.3 and before have intervals that nobody may
// claim.
std::string scaling_doubt(const CaseResult& one, const CaseResult* base = nullptr);

// Takes back the intervals of stored cases whose base may not be claimed of, with the reason.
void withdraw_doubtful_scaling(std::vector<CaseResult>& cases);

// The efficiency with its interval, as tables show figures.
Estimate efficiency_of(const CaseResult& one);

}  // namespace paceline::result
