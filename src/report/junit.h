// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/run_result.h"

namespace paceline::report {

// JUnit XML of a run: one test a case (failed cases fail, skipped ones are skipped) and one a decided gate
// (missed: failure; cannot_say: error, for a check that cannot be trusted is not green).
std::string junit_xml(const result::RunResult& run);

}  // namespace paceline::report
