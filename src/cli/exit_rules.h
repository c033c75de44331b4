// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "analysis/run_checks.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "result/stored/run_result.h"

// The one place that turns what happened into an exit code.
namespace paceline::cli {

ExitCode exit_code_of(ErrorCode code);

struct ExitOptions {
  bool allow_noisy = false;
  bool strict = false;  // an unconverged case gives 3, one of grade C gives 4
  bool interrupted = false;
  [[nodiscard]] analysis::Strictness strictness() const { return {allow_noisy, strict}; }
};
// Precedence 2 > 5 > 4 > 1 > 3 > 0; 77 when nothing ran (docs/reference/exit-codes.md).
ExitCode exit_code_of(const result::RunResult& run, const ExitOptions& options);

struct ExitMeaning {
  ExitCode code;
  std::string_view meaning;
};
std::span<const ExitMeaning> exit_meanings();
std::string exit_codes_markdown();

}  // namespace paceline::cli
