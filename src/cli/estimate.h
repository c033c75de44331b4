// SPDX-License-Identifier: MIT
// Estimates the time of a run for `--dry-run`.
#pragma once
#include <optional>

#include "config/plan.h"

namespace paceline::cli {

// Rough time of all repetitions of one case in seconds: process start, load, check, warm-up and measurement
// at the current speed of this machine (found in a few hundredths of a second of multiply-adds). Only for
// --dry-run.
enum class Times { kSteady, kUnsteady };  // kUnsteady: measured until the time limit
double estimated_seconds(const config::Case& c, Times times = Times::kSteady);

// What the estimate takes a sample of the case's model for, where only its file knows; none elsewhere.
std::optional<double> assumed_sample_s(const config::Case& c);

}  // namespace paceline::cli
