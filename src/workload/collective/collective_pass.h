// SPDX-License-Identifier: MIT
// The pass of one rank that times collectives.
#pragma once
#include <atomic>

#include "pass/pass.h"
#include "pass/records.h"

namespace paceline::workload {

// Meets the other ranks, then times every size of spec.collective: operations back to back as one batch, and
// one by one after a barrier each. What is received is compared with what must be. Rank 0 reports the times
// of all ranks, size by size. Throws Error(kUnsupported) for what the backend lacks, and Error(kUnavailable)
// when a peer is gone.
void run_collective_pass(const pass::PassSpec& spec, pass::RecordSink& sink,
                         const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
