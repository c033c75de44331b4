// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "result/run_directory.h"
#include "run/case/case_run.h"
#include "run/case/run_setup.h"

namespace paceline::run {

// Results of a run so far, as files: those of cases, and the summary of all. They are derived from the
// records of passes, which are on disk before a pass counts as finished; so they may be a moment behind while
// passes are shorter than twenty times what writing costs.
class ResultKeeper {
 public:
  // Writes the plan and the environment.
  ResultKeeper(const RunSetup& setup, result::RunDirectory& directory);

  [[nodiscard]] const result::RunResult& run() const { return run_; }
  void write_summary();
  // Takes over what is new of a case, which outlives this, and writes what has changed when it is time to.
  void keep(CaseRun& c);
  // Cases without a repetition end here, with the reason.
  result::RunResult finish(CaseRuns& all, bool interrupted);

 private:
  void write_changed();

  result::RunDirectory& directory_;
  result::RunResult run_;
  std::set<CaseRun*> changed_;  // since their files were written
  // On SteadyClock. The summary is written for the first time when every case is there.
  std::int64_t next_files_ns_ = 0, next_summary_ns_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace paceline::run
