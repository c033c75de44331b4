// SPDX-License-Identifier: MIT
#pragma once
#include "run/ranks.h"

namespace paceline::run {

// run_ranks; after a failure again from the last checkpoint, up to `max_restarts` times, where there are
// checkpoints. Each restart is a notice, and what it cost is in the report (result::RestartFigures).
WorkerOutcome run_ranks_restarting(const WorkerRequest& request, const RankShare& share, int max_restarts,
                                   const std::atomic<bool>& interrupt, const OnProgress& on_progress);

}  // namespace paceline::run
