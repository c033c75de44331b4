// SPDX-License-Identifier: MIT
#pragma once

namespace paceline {

// The process exit codes of every command (docs/reference/exit-codes.md).
enum class ExitCode : int {
  kOk = 0,
  kGateFailed = 1,          // regression, missed expectation, or failed accuracy check
  kUsage = 2,               // command line or plan
  kInconclusive = 3,        // the interval is too wide for a decision
  kEnvironmentInvalid = 4,  // grade C without --allow-noisy, or incomparable machines
  kWorkloadFailed = 5,
  kSkipped = 77,  // nothing could run here
  kInterrupted = 130,
};

// Which of two codes a whole run reports: 2 > 5 > 4 > 1 > 3 > 0; an interruption outranks all, a skip only
// counts if nothing ran.
ExitCode worse(ExitCode a, ExitCode b) noexcept;

}  // namespace paceline
