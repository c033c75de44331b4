// SPDX-License-Identifier: MIT
// Which cases are measured in turns (methodology: turns within a pair).
#pragma once
#include <string>
#include <vector>

#include "run/case/case_run.h"
#include "run/case/run_setup.h"

namespace paceline::run {

// Why timed passes of these cases do not work in turns, in words; empty: they do.
std::string why_not_in_turns(const std::vector<const CaseRun*>& cases, const RunSetup& setup);

}  // namespace paceline::run
