// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "run/case/case_run.h"

namespace paceline::run {

// Compares every case that has repetitions with its baseline. `resumed_utc`: when the run was resumed, which
// no pair of repetitions may span.
void compare_to_baselines(std::vector<CaseRun>& cases, const std::vector<std::string>& resumed_utc);

}  // namespace paceline::run
