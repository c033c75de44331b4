// SPDX-License-Identifier: MIT
#include "cli/exit_rules.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "answer/answer.h"
#include "result/judged/reasons.h"

namespace paceline::cli {
namespace {

constexpr std::array kRows{
    ExitMeaning{ExitCode::kOk, "everything asked for was done and every gate was met"},
    ExitMeaning{ExitCode::kGateFailed,
                "a gate (`expect`) was missed, a regression was found, or an accuracy check failed"},
    ExitMeaning{ExitCode::kUsage,
                "command line, plan, or a file the user gave is wrong; nothing or only the other cases ran"},
    ExitMeaning{ExitCode::kInconclusive,
                "the interval is too wide to say: a gate, a claim or a comparison cannot be decided, or, "
                "with `--strict`, "
                "a case did not converge before its cap or its outputs could not be checked "
                "(except with `--accuracy off`); or a `--cross-check` could not run"},
    ExitMeaning{
        ExitCode::kEnvironmentInvalid,
        "the environment invalidates what was asked: a gate (`expect`, `slo`, `--min-busbw`) on a time, rate "
        "or share of a case of grade C, or such a case with `--strict`, unless `--allow-noisy`; a FAIL "
        "of `validate`; sides of `compare` on other machines or software, or a control that moved"},
    ExitMeaning{ExitCode::kWorkloadFailed, "a workload failed: crash, out of memory, timeout, protocol"},
    ExitMeaning{ExitCode::kSkipped, "skipped: nothing of what was asked can run here"},
    ExitMeaning{ExitCode::kInterrupted, "interrupted; what was finished is kept"},
};

}  // namespace

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnsupported:
    case ErrorCode::kUnavailable:
      return ExitCode::kSkipped;
    case ErrorCode::kTimeout:
    case ErrorCode::kInternal:
      return ExitCode::kWorkloadFailed;
    default:
      return ExitCode::kUsage;
  }
}

ExitCode exit_code_of(const result::RunResult& run, const ExitOptions& options) {
  if (options.interrupted) return ExitCode::kInterrupted;
  return answer::exit_code_of(analysis::checks_of(run, options.strictness()));
}

std::span<const ExitMeaning> exit_meanings() {
  return kRows;
}

std::string exit_codes_markdown() {
  std::string text = "# Exit codes\n\n| code | meaning |\n|---|---|\n";
  for (const auto& row : kRows) text += fmt::format("| {} | {} |\n", static_cast<int>(row.code), row.meaning);
  text += "\nSeveral reasons at once: 130, else 2, 5, 4, 1, 3, 0 in this order; 77 only when nothing ran.\n";
  text +=
      "\n## Reasons\n\nWhy a case has no result (`reason_code` in result.json), and the exit code of a run "
      "whose cases all ended so.\n\n| reason | the case is | exit code | meaning |\n|---|---|---|---|\n";
  for (const auto& r : result::reasons())
    text += fmt::format("| `{}` | {} | {} | {} |\n", r.code, r.skips ? "skipped" : "failed",
                        static_cast<int>(r.exit_code), r.meaning);
  return text;
}

}  // namespace paceline::cli
