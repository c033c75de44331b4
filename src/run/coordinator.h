// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "process/pass_executor.h"
#include "result/run_directory.h"
#include "run/case/observer.h"
#include "run/case/run_setup.h"

namespace paceline::run {

// Runs the cases of a plan: preparations, then timed passes interleaved over cases, each in a fresh worker.
// What a pass has brought is in the run directory before the next begins. A case that fails costs that case
// only. `interrupt` ends the run after stopping the worker; what is finished is kept. Findings, gates and the
// exit code are the caller's.
result::RunResult run_plan(RunSetup setup, result::RunDirectory& directory, RunObserver& observer,
                           const std::atomic<bool>& interrupt, process::PassExecutor& executor);

}  // namespace paceline::run
