// SPDX-License-Identifier: MIT
#pragma once
#include "run/case_peaks.h"
#include "run/case_run.h"
#include "run/observer.h"
#include "run/run_setup.h"

namespace paceline::run {

// Of --resume: takes over what the earlier run into this directory finished of a case: its check, the
// repetitions whose records are complete, and what was measured beside them. A finished case that --only
// names is measured again, its records set aside, and so is what does not fit, by name. Nothing happens
// without --resume.
void take_over(const RunSetup& setup, CaseRun& c, CasePeaks& peaks, RunObserver& observer);

}  // namespace paceline::run
