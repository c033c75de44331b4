// SPDX-License-Identifier: MIT
// A run as checks: a test in JUnit and a share of the exit code for each case and gate.
#pragma once
#include <vector>

#include "answer/answer.h"
#include "result/stored/run_result.h"

namespace paceline::analysis {

struct Strictness {
  bool allow_noisy = false;
  bool strict = false;  // unconverged cases are open, those of grade C fail
};

// Groups of the checks of a run, which are suites in JUnit.
inline constexpr const char* kCaseChecks = "cases";
inline constexpr const char* kGateChecks = "gates";

// Failed cases fail, skipped ones were not asked. A case of grade C fails where noise_counts() says so,
// unless noise is allowed. A gate that cannot be decided is open, as is an unfinished run: neither is green.
std::vector<answer::Check> checks_of(const result::RunResult& run, const Strictness& strictness);
answer::Check check_of(const result::GateResult& gate);

}  // namespace paceline::analysis
