// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/stored/case_result.h"

namespace paceline::result {

// Results of versions up to 1.6 claim no ratio for cases of grade C. Judges these ratios of stored cases
// again, by their pairs of processes. Returns whether there were any. `resumed_utc`: see pair_ratio.
bool claim_despite_grades(std::vector<CaseResult>& cases, const std::vector<std::string>& resumed_utc);

}  // namespace paceline::result
