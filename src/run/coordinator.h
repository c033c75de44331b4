// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "config/plan.h"
#include "result/run_directory.h"
#include "run/observer.h"
#include "run/plugin_choice.h"

namespace paceline::run {

class Launch;

struct RunSetup {
  config::Plan plan;
  std::vector<config::Case> cases;
  std::set<std::string> only;  // case ids to run; empty: all
  bool in_process = false;
  bool measure_peaks = true;
  EngineDirectory engines;
  result::Suite suite;
  std::string command_line;
  nlohmann::json environment;
  // Of --resume: what is finished is kept, but for cases `only` names; folder empty otherwise.
  result::StoredRun previous;
  // This process is one of a launch: its ranks alone are started here. Null: all ranks are.
  Launch* launch = nullptr;
};

// Runs the cases of a plan: checks, then timed passes interleaved over cases, each in a fresh worker. After
// every pass the run directory is complete up to there. A case that fails costs that case only. `interrupt`
// ends the run after stopping the worker; what is finished is kept. Findings, gates and the exit code are the
// caller's.
result::RunResult run_plan(RunSetup setup, result::RunDirectory& directory, RunObserver& observer,
                           const std::atomic<bool>& interrupt);

}  // namespace paceline::run
