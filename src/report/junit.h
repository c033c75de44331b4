// SPDX-License-Identifier: MIT
// Writes a run as JUnit XML.
#pragma once
#include <string>

#include "result/stored/run_result.h"

namespace paceline::report {

// The options that the exit code was computed with.
struct JunitOptions {
  bool allow_noisy = false;
  bool strict = false;
};

// JUnit XML of a run. One test per case: failed cases fail, skipped ones are skipped. A case of grade C
// fails where noise_counts() says so and `allow_noisy` is not set; with `strict` unconverged ones are errors.
// One test per decided gate: missed is a failure, cannot_say an error, because a check that cannot be trusted
// is not green. An error for an unfinished run.
std::string junit_xml(const result::RunResult& run, const JunitOptions& options = {});

// One test with an error, for a command that ended without a run.
std::string junit_of_no_run(const std::string& message);

}  // namespace paceline::report
