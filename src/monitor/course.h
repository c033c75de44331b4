// SPDX-License-Identifier: MIT
// A recording as curves over time, for a report.
#pragma once
#include <string>
#include <vector>

#include "monitor/recording.h"
#include "report/machine_course.h"

namespace paceline::monitor {

// `run_id`: passes of this run alone; empty: of every run that was seen.
// Of several recordings of one machine, in their order: a run that was resumed has one for each start. Rates
// are between two readings of the same recording.
report::MachineCourse course_of(const std::vector<Recording>& recordings, const std::string& run_id = {});

}  // namespace paceline::monitor
