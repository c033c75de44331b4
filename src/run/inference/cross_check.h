// SPDX-License-Identifier: MIT
// Runs the engine's own tool beside Paceline's processes and compares their times.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>

#include "run/case/case_run.h"
#include "run/case/observer.h"

// The engine's own tool beside us: trust that anyone can repeat.
namespace paceline::run {

struct CrossCheckHelpers {
  std::filesystem::path folder;  // for files of the tool, absolute
  std::function<process::WorkerOutcome(const pass::PassSpec&)> run_ours;
  std::function<void()> wait_for_quiet;
};

bool asks_cross_check(const CaseRun& run);

// Fresh processes of a measured case and of the engine's tool in turns (ours, theirs, theirs, ours, …), on
// the same file with the same inputs, threads and iterations. Fills run.result.cross_check: the ratio, or why
// there is none. The case itself stays as it is.
void cross_check(CaseRun& run, const CrossCheckHelpers& helpers, RunObserver& observer,
                 const std::atomic<bool>& interrupt);

// The ratio, its interval and the verdict from the pairs that are there; `delta` is the smallest difference
// that counts.
void conclude(result::CrossCheck& check, double confidence, double delta);

}  // namespace paceline::run
