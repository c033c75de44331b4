// SPDX-License-Identifier: MIT
// Starts ranks again from their last checkpoint after a failure.
#pragma once
#include "process/pass_executor.h"

namespace paceline::run {

// Has `processes` start the ranks of a request, and after a failure start them again from the last
// checkpoint, up to request.max_restarts times, where there are checkpoints. Each restart is a notice, and
// what it cost is in the report (result::RestartFigures).
process::WorkerOutcome run_restarting(process::PassExecutor& processes, const process::WorkerRequest& request,
                                      const std::atomic<bool>& interrupt,
                                      const process::OnProgress& on_progress);

}  // namespace paceline::run
