// SPDX-License-Identifier: MIT
#pragma once
#include "run/case/case_time.h"

namespace paceline::run {

// Rough time of all repetitions of a training case, and of its profile.
double training_seconds(const config::Case& c, const Pace& pace);

}  // namespace paceline::run
