// SPDX-License-Identifier: MIT
// The passes of a rank that trains.
#pragma once
#include <atomic>

#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// Meets the other ranks, loads, trains through the timed loop, and compares parameters with theirs. Rank 0
// reports what all of them measured. Throws Error; the failure of a peer is Error(kUnavailable) naming the
// rank where the store knows it.
void run_training_pass(const pass::PassSpec& spec, pass::RecordSink& sink,
                       const std::atomic<bool>& interrupt);
// Makes a few untimed steps, then spec.train.profile.steps that rank 0 profiles. It writes their trace to
// trace_file and reports their operators. Nothing is saved, no fault is injected, and no time here is a
// measurement. Throws Error(kUnsupported) where the trainer has no profiler.
void run_training_profile(const pass::PassSpec& spec, pass::RecordSink& sink,
                          const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
