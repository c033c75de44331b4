// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/run_result.h"

namespace paceline::report {

// What the exit code was made with.
struct JunitOptions {
  bool allow_noisy = false;
  bool strict = false;
};

// JUnit XML of a run: one test a case (failed cases and those of grade C without `allow_noisy` fail, skipped
// ones are skipped, with `strict` unconverged ones are errors), one a decided gate (missed: failure;
// cannot_say: error, for a check that cannot be trusted is not green), and an error for an unfinished run.
std::string junit_xml(const result::RunResult& run, const JunitOptions& options = {});

}  // namespace paceline::report
