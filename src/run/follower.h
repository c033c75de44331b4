// SPDX-License-Identifier: MIT
// Work of a launch's processes that do not lead: they start their ranks for the passes of the leader.
#pragma once
#include <atomic>

#include "process/pass_executor.h"
#include "run/case/observer.h"
#include "run/case/run_setup.h"

namespace paceline::run {

// Starts this process's ranks for each pass that the leader announces and in which they take part, and skips
// what the leader has left behind. Ranks that fail cost their pass only. Writes nothing but the ranks' logs,
// where the leader has its run if both share a file system. False if ranks of ours failed. Throws
// Error(kUnavailable) when the leader is gone.
bool follow_plan(const RunSetup& setup, RunObserver& observer, const std::atomic<bool>& interrupt,
                 process::PassExecutor& executor);

}  // namespace paceline::run
