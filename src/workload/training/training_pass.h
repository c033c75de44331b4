// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "workload/pass.h"
#include "workload/records.h"

namespace paceline::workload {

// One rank of a pass that trains: meets the others, loads, trains through the timed loop, and compares its
// parameters with theirs. Rank 0 says what all of them measured. Throws Error; a peer's failure is
// Error(kUnavailable) with the culprit where the store tells.
void run_training_pass(const PassSpec& spec, RecordSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
