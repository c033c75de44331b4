// SPDX-License-Identifier: MIT
// Runs training under the profiler, and turns its report into the case's operator table.
#pragma once
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "run/case/case_run.h"
#include "run/case/observer.h"
#include "run/case/pass_runner.h"
#include "run/case/result_keeper.h"
#include "run/case/run_setup.h"

namespace paceline::run {

bool asks_profile(const config::Case& c);
// It asks for a profile, may have one, and has none yet.
bool is_profile_due(const CaseRun& run);
// Why a case that asks for a profile gets none, and what to do; empty: it gets one.
std::string no_profile_reason(const config::Case& c);
// Why sync_stall_detection starts no profile of what was measured; empty: it does, or was not asked for.
std::string stall_reason(const config::Case& c, const result::CaseResult& measured);

// The pass under the profiler, of every rank: that of `base` without checkpoints, faults and epochs.
pass::PassSpec train_profile_pass(const config::Case& c, pass::PassSpec base,
                                  const std::filesystem::path& trace_file);

// Takes over what the pass found: operator table and trace become files of the case. A pass that failed
// leaves its reason. The case itself stays as it is.
void apply_operator_profile(CaseRun& run, const process::WorkerOutcome& outcome,
                            const std::filesystem::path& trace_file);

}  // namespace paceline::run
