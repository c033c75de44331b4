// SPDX-License-Identifier: MIT
// Writes a run as JUnit XML.
#pragma once
#include <string>

#include "analysis/run_checks.h"
#include "result/stored/run_result.h"

namespace paceline::report {

// Suites of its cases and of its gates, decided as the exit code is.
std::string junit_xml(const result::RunResult& run, const analysis::Strictness& strictness = {});

// One test with an error, for a command that ended without a run.
std::string junit_of_no_run(const std::string& message);

}  // namespace paceline::report
