// SPDX-License-Identifier: MIT
// Why a case has no result: one row per reason, with its outcome, exit code and advice.
#pragma once
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/exit_code.h"

namespace paceline::result {

// Action of a user after a case ended so, before it is measured again.
enum class Again {
  kAsItIs,       // the same command may go well
  kAfterCure,    // once the cure is done
  kNewRun,       // --resume keeps the options, so that the cure needs a new run
  kAfterChange,  // the reason itself says what to change
};

struct Reason {
  std::string_view code;                           // CaseResult::reason_code
  std::string_view meaning;                        // for docs/reference/exit-codes.md
  bool skips = false;                              // the case is skipped; else it has failed
  bool restarts = false;                           // ranks that ended so may go on from their last checkpoint
  ExitCode exit_code = ExitCode::kWorkloadFailed;  // of a run whose case ended so
  ErrorCode error = ErrorCode::kInternal;          // of a command whose worker ended so
  Again again = Again::kAsItIs;
  std::string_view cure{};  // a sentence, or the begin of one that a command ends; may be empty
};

std::span<const Reason> reasons();
// The row of a code; for an unknown code, of a newer or older version, the row of "error".
const Reason& reason_of(std::string_view code);
// The reason code for an error that a worker throws.
std::string_view reason_code_of(ErrorCode error);

}  // namespace paceline::result
