// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "workload/pass.h"
#include "workload/records.h"

namespace paceline::workload {

// One rank of a pass under the profiler: a few untimed steps, then spec.train.profile.steps that rank 0 has
// watched. It writes their trace to trace_file and tells their operators. Nothing is saved, no fault comes,
// and no time here is a measurement. Throws Error(kUnsupported) where the trainer has no profiler.
void run_training_profile(const PassSpec& spec, RecordSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
