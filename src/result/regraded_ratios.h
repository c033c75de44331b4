// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/case_result.h"

namespace paceline::result {

// Versions up to 1.6 of the results claim no ratio of a case of grade C. Judges such ratios of stored cases
// by their pairs of processes. True where there were any.
bool claim_despite_grades(std::vector<CaseResult>& cases, const std::vector<std::string>& resumed_utc);

}  // namespace paceline::result
