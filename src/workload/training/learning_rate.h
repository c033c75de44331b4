// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "pass/train_spec.h"

namespace paceline::workload {

// Computes the learning rate of step `step` (from 0): linear from base / warmup_steps to base, then constant,
// or half a cosine from base to last x base over the steps that are left, or base x gamma ^ floor((step -
// warmup_steps) / step_every).
double learning_rate(const pass::ScheduleSpec& schedule, std::int64_t step);

}  // namespace paceline::workload
