// SPDX-License-Identifier: MIT
#pragma once
#include "answer/answer.h"
#include "base/json.h"
#include "compare/comparison.h"

namespace paceline::compare {

// Differences of the environments first, then the cases as a table and a chart, the other figures, and what
// has no partner. A check per figure that decides; their exit codes are the comparison's.
answer::Answer answer_of(const Comparison& comparison);

// Figures for programs: "verdict", "exit_code", "sides", "environment", "control", "cases" and their figures.
nlohmann::json comparison_json(const Comparison& comparison);

// Checks of the environment, of the control, and of each figure that decides.
std::vector<answer::Check> checks_of(const Comparison& comparison);

}  // namespace paceline::compare
