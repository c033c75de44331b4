// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/run_directory.h"
#include "run/case_run.h"
#include "run/run_setup.h"

namespace paceline::run {

// What a run has found so far, as files: complete after every call.
class ResultKeeper {
 public:
  // Writes the plan and the environment.
  ResultKeeper(const RunSetup& setup, result::RunDirectory& directory);

  [[nodiscard]] const result::RunResult& run() const { return run_; }
  void write_summary() const { directory_.write_summary(run_); }
  // The files of `c`, one of `all`, and the summary.
  void keep(CaseRun& c, const std::vector<CaseRun>& all);
  // Cases without a repetition end here, with the reason.
  result::RunResult finish(std::vector<CaseRun>& all, bool interrupted);

 private:
  result::RunDirectory& directory_;
  result::RunResult run_;
};

}  // namespace paceline::run
