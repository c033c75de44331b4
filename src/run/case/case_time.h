// SPDX-License-Identifier: MIT
// Rough times of the parts of a case at the current speed of this machine, found in a few hundredths of a
// second of multiply-adds. Only for --dry-run.
#pragma once
#include <optional>

#include "config/case.h"

namespace paceline::run {

enum class Times { kSteady, kUnsteady };  // kUnsteady: measured until the time limit

inline constexpr double kWorkerStartS = 2.0;  // of a worker with its library and model

// A forward pass of one batch.
double iteration_seconds(const config::Case& c);
// What is assumed of a sample where only the file of the model knows; none elsewhere.
std::optional<double> assumed_sample_s(const config::Case& c);

// Timed iterations under the stop rule.
double seconds_by_the_rule(const config::Settings& s, double iteration, Times times);

}  // namespace paceline::run
