// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "result/run_directory.h"
#include "run/observer.h"
#include "run/run_setup.h"

namespace paceline::run {

// Runs the cases of a plan: checks, then timed passes interleaved over cases, each in a fresh worker. After
// every pass the run directory is complete up to there. A case that fails costs that case only. `interrupt`
// ends the run after stopping the worker; what is finished is kept. Findings, gates and the exit code are the
// caller's.
result::RunResult run_plan(RunSetup setup, result::RunDirectory& directory, RunObserver& observer,
                           const std::atomic<bool>& interrupt);

}  // namespace paceline::run
