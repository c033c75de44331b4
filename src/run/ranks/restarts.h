// SPDX-License-Identifier: MIT
// Starts ranks again from their last checkpoint after a failure.
#pragma once
#include <functional>

#include "process/worker.h"

namespace paceline::run {

using StartRanks = std::function<process::WorkerOutcome(const process::WorkerRequest&)>;

// Starts the ranks of a request, and after a failure starts them again from the last checkpoint, up to
// request.max_restarts times, where there are checkpoints. Each restart is a notice, and what it cost is in
// the report (result::RestartFigures).
process::WorkerOutcome run_restarting(const process::WorkerRequest& request, const StartRanks& start,
                                      const process::OnProgress& on_progress);

}  // namespace paceline::run
