// SPDX-License-Identifier: MIT
#pragma once
#include "run/case/case_time.h"

namespace paceline::run {

// Rough time of all passes of an inference case: check, repetitions, cross-check, times of layers.
double inference_seconds(const config::Case& c, const Pace& pace);

}  // namespace paceline::run
