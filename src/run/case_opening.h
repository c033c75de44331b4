// SPDX-License-Identifier: MIT
// Opens a case before its first pass: its folder, its kind, and whether it can run here.
#pragma once
#include <string>

#include "run/case/case_run.h"
#include "run/case/run_setup.h"
#include "run/kinds.h"

namespace paceline::run {

// A case before its first pass: who runs it, with how many threads, on which CPUs. Ended where it cannot run
// here.
CaseRun open_case(const RunSetup& setup, const Kinds& kinds, std::size_t index, const std::string& run_id,
                  const result::RunDirectory& directory);

}  // namespace paceline::run
