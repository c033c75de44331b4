// SPDX-License-Identifier: MIT
// Estimates the time of a run for `--dry-run`.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/plan.h"

namespace paceline::cli {

// Rough time of all repetitions of one case in seconds: process start, load, check, warm-up and measurement
// at the current speed of this machine (found in a few hundredths of a second of multiply-adds). Only for
// --dry-run.
enum class Times { kSteady, kUnsteady };  // kUnsteady: measured until the time limit
double estimated_seconds(const config::Case& c, Times times = Times::kSteady);

// The same for programs: number, id, seconds or the reason for a skip, and the sum.
nlohmann::json dry_run_json(const std::string& experiment, const std::vector<config::Case>& cases);

// The numbered list of cases with estimates and skips.
std::string dry_run_text(const std::vector<config::Case>& cases);

}  // namespace paceline::cli
