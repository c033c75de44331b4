// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/plan.h"

namespace paceline::cli {

// Rough time of one case in seconds, all repetitions: process start, load, check, warm-up and measurement at
// the speed that this machine shows now (a few hundredths of a second of multiply-adds). For --dry-run and
// nothing else.
enum class Times { kSteady, kUnsteady };  // the second measures until the limit
double estimated_seconds(const config::Case& c, Times times = Times::kSteady);

// The same for programs: number, id, seconds or the reason of a skip; and the sum.
nlohmann::json dry_run_json(const std::string& experiment, const std::vector<config::Case>& cases);

// The numbered list of cases with estimates and what will be skipped.
std::string dry_run_text(const std::vector<config::Case>& cases);

}  // namespace paceline::cli
