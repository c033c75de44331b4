// SPDX-License-Identifier: MIT
// Takes over what an earlier run into the same directory finished of a case (--resume).
#pragma once
#include "run/case/case_run.h"
#include "run/case/kind.h"
#include "run/case/observer.h"
#include "run/case/run_setup.h"

namespace paceline::run {

// Takes over of a case its check, the repetitions whose records are complete, and what was measured beside
// them. A finished case that --only names is measured again, its records set aside, and so is what does not
// fit, by name. Nothing happens without --resume.
void take_over(const RunSetup& setup, CaseRun& c, KindInRun& kind, RunObserver& observer);

}  // namespace paceline::run
