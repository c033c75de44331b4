// SPDX-License-Identifier: MIT
#pragma once
#include "report/report_run.h"
#include "result/run_directory.h"

namespace paceline::cli {

// A stored run with the samples, and for `pictures` the steps, that its report draws. What cannot be drawn
// becomes a warning of the run.
report::ReportRun report_run(const result::StoredRun& stored, bool pictures);

}  // namespace paceline::cli
