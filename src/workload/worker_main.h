// SPDX-License-Identifier: MIT
// The worker's side of a pass: what the started executable does, or this process in its place.
#pragma once
#include <atomic>

#include "process/worker.h"

namespace paceline::workload {

// Entry of the worker executable: reads the spec, runs the pass and writes records. Returns the exit code of
// the process.
int worker_main(int spec_fd, int record_fd);

// Runs the pass in the calling process, for people who use their own profiler or debugger.
process::WorkerOutcome run_in_process(const process::WorkerRequest& request,
                                      const std::atomic<bool>& interrupt,
                                      const process::OnProgress& on_progress);

}  // namespace paceline::workload
