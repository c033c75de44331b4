// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "run/case_run.h"
#include "run/run_setup.h"

namespace paceline::run {

// A case before its first pass: who runs it, with how many threads, on which CPUs. Ended where it cannot run
// here.
CaseRun open_case(const RunSetup& setup, const config::Case& definition, const std::string& run_id,
                  const result::RunDirectory& directory);

}  // namespace paceline::run
