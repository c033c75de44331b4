// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "pass/train_spec.h"

namespace paceline::workload {

// Computes the learning rate of step `step` (from 0): linear from base / warmup_steps to base, then constant,
// or half a cosine from base to last x base over the steps that are left, or base x gamma ^ floor((step -
// warmup_steps) / step_every).
double learning_rate(const pass::ScheduleSpec& schedule, std::int64_t step);

// Fills in the counts of steps that the schedule's epochs mean: a cosine ends with the last epoch, and
// reductions come after each third of all epochs, as after 30 of 90.
pass::ScheduleSpec in_steps(pass::ScheduleSpec schedule, std::int64_t steps_per_epoch);

}  // namespace paceline::workload
