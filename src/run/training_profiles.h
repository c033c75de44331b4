// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "run/case_run.h"
#include "run/observer.h"
#include "run/pass_runner.h"
#include "run/result_keeper.h"
#include "run/run_setup.h"

namespace paceline::run {

bool asks_profile(const config::Case& c);
// Why a case that asks for a profile gets none, and what to do; empty: it gets one.
std::string no_profile_reason(const config::Case& c);

// The pass under the profiler, of every rank: that of `base` without checkpoints, faults and epochs.
workload::PassSpec train_profile_pass(const config::Case& c, workload::PassSpec base,
                                      const std::filesystem::path& trace_file);

// Takes over what the pass found: operator table and trace become files of the case. A pass that failed
// leaves its reason. The case itself stays as it is.
void apply_operator_profile(CaseRun& run, const WorkerOutcome& outcome,
                            const std::filesystem::path& trace_file);

// The profile passes of the training cases that ask for one, after every timed pass. In a launch they are
// numbered behind those: number of the first + index of the case.
class TrainingProfiles {
 public:
  // Everything outlives this. `temp_folder`: where the trace is written before it is whole.
  TrainingProfiles(const RunSetup& setup, const PassRunner& runner, ResultKeeper& keeper,
                   std::filesystem::path temp_folder, RunObserver& observer,
                   const std::atomic<bool>& interrupt)
      : setup_(setup),
        runner_(runner),
        keeper_(keeper),
        temp_folder_(std::move(temp_folder)),
        observer_(observer),
        interrupt_(interrupt) {}

  void run(std::vector<CaseRun>& cases);

 private:
  void profile(CaseRun& c, std::size_t number);

  const RunSetup& setup_;
  const PassRunner& runner_;
  ResultKeeper& keeper_;
  std::filesystem::path temp_folder_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
};

}  // namespace paceline::run
