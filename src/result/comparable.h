// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "result/case_result.h"
#include "stats/ratio.h"

// Decides whether a figure of one case may be compared with that of another at all (methodology: findings).
namespace paceline::result {

// Why nothing may be said about the two: a case of grade C, fewer than six processes, or cases that did not
// run in turns. Empty where a comparison is allowed. `resumed_utc`: when --resume continued the run.
std::string obstacle(const CaseResult& a, const CaseResult& b, const std::vector<std::string>& resumed_utc);

// The same for one case alone: its grade and its processes.
std::string obstacle(const CaseResult& one);

// The estimate, if it has an interval above 0, so that a ratio of it has one.
std::optional<stats::Bracketed> bracketed(const Estimate& estimate);

}  // namespace paceline::result
