// SPDX-License-Identifier: MIT
// What a process of a launch does that does not lead: it starts its ranks for the passes of the leader.
#pragma once
#include <atomic>

#include "process/pass_executor.h"
#include "run/case/observer.h"
#include "run/case/run_setup.h"

namespace paceline::run {

// What a process of a launch does that does not lead: starts its ranks for each pass that the leader
// announces and in which they take part, and skips what the leader has left behind. Ranks that fail cost
// their pass only. Writes nothing but the ranks' logs, where the leader has its run when both share a file
// system. False when ranks of ours failed. Throws Error(kUnavailable) when the leader is gone.
bool follow_plan(const RunSetup& setup, RunObserver& observer, const std::atomic<bool>& interrupt,
                 process::PassExecutor& executor);

}  // namespace paceline::run
