// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// One rank of a pass under the profiler: a few untimed steps, then spec.train.profile.steps that rank 0
// profiles. It writes their trace to trace_file and reports their operators. Nothing is saved, no fault is
// injected, and no time here is a measurement. Throws Error(kUnsupported) where the trainer has no profiler.
void run_training_profile(const pass::PassSpec& spec, pass::RecordSink& sink,
                          const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
