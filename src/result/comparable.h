// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "result/case_result.h"
#include "stats/ratio.h"

// Whether a figure of one case over that of another may be judged at all (methodology: findings).
namespace paceline::result {

// Why nothing may be said of the two: a case of grade C, fewer than six processes, or cases that did not run
// in turns. Empty where something may. `resumed_utc`: when --resume went on.
std::string obstacle(const CaseResult& a, const CaseResult& b, const std::vector<std::string>& resumed_utc);

// Of one case alone: its grade and its processes.
std::string obstacle(const CaseResult& one);

// The estimate where it has an interval above 0, so that a ratio of it has one.
std::optional<stats::Bracketed> bracketed(const Estimate& estimate);

}  // namespace paceline::result
