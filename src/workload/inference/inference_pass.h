// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "workload/pass.h"
#include "workload/records.h"

namespace paceline::workload {

// Runs one pass in this process and reports through `sink`: phases, what was read back, samples. An Error
// becomes a "failed" record; anything worse is the process's death, which the coordinator explains.
// `interrupt` set from a signal handler ends the loop between two iterations and keeps what was measured.
void run_inference_pass(const PassSpec& spec, RecordSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
