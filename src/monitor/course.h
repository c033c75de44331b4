// SPDX-License-Identifier: MIT
// A recording as curves over time, for a report.
#pragma once
#include <vector>

#include "monitor/recording.h"
#include "report/machine_course.h"

namespace paceline::monitor {

// Of several recordings of one machine, in their order: a run that was resumed has one for each start. Rates
// are between two readings of the same recording.
report::MachineCourse course_of(const std::vector<Recording>& recordings);

}  // namespace paceline::monitor
