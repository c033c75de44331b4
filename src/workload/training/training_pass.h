// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// One rank of a pass that trains: meets the others, loads, trains through the timed loop, and compares its
// parameters with theirs. Rank 0 reports what all of them measured. Throws Error; the failure of a peer is
// Error(kUnavailable) naming the rank where the store knows it.
void run_training_pass(const pass::PassSpec& spec, pass::RecordSink& sink,
                       const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
