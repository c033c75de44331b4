// SPDX-License-Identifier: MIT
// Input of a run: plan, cases, engines, environment, and the run that it resumes.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "config/plan.h"
#include "result/run_directory.h"
#include "run/case/plugin_choice.h"

namespace paceline::run {

class Launch;
class Schedule;

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
  // Run of --resume: finished cases are kept, except those in `only`; folder empty otherwise.
  result::StoredRun previous;
  // This process is one of a launch: its ranks alone are started here. Null: all ranks are.
  Launch* launch = nullptr;
  // Decides which timed pass is next. Null: all repetitions of all cases, interleaved.
  Schedule* schedule = nullptr;
  // Where runs keep what they make for later ones; empty: nowhere.
  std::filesystem::path kept_folder{};
  bool fresh = false;  // what is kept there is made again
};

}  // namespace paceline::run
