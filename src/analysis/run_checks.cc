// SPDX-License-Identifier: MIT
#include "analysis/run_checks.h"

#include <fmt/format.h>

#include "analysis/case_query.h"
#include "analysis/gates.h"
#include "base/text.h"
#include "result/judged/reasons.h"

namespace paceline::analysis {
namespace {

using answer::Check, answer::Verdict;
using result::Outcome;

double seconds_of(const result::CaseResult& one) {
  std::int64_t total_ns = 0;
  for (const auto& repetition : one.repetitions) total_ns += repetition.elapsed_ns;
  return static_cast<double>(total_ns) / 1e9;
}

Check check_of(const result::RunResult& run, const result::CaseResult& one, const Strictness& asked) {
  Check check{
      .name = one.label.empty() ? one.case_id : one.label, .group = kCaseChecks, .seconds = seconds_of(one)};
  const auto decide = [&](Verdict verdict, std::string text, ExitCode exit) {
    check.verdict = verdict, check.text = std::move(text), check.exit = exit;
  };
  if (one.outcome != Outcome::kOk)
    decide(one.outcome == Outcome::kSkipped ? Verdict::kNotAsked : Verdict::kNo, one.reason,
           result::reason_of(one.reason_code).exit_code);
  else if (!asked.allow_noisy && noise_counts(run, one, asked.strict))
    decide(Verdict::kNo, "grade C: " + join(one.grade_reasons, ", "), ExitCode::kEnvironmentInvalid);
  else if (auto open = open_question(one, asked.strict); !open.empty())
    decide(Verdict::kCannotSay, std::move(open), ExitCode::kInconclusive);
  return check;
}

}  // namespace

Check check_of(const result::GateResult& gate) {
  Check check{.name = fmt::format("{} [{}]", gate.expression, gate.case_id), .group = kGateChecks};
  if (gate.verdict == Verdict::kYes) return check;
  check.verdict = gate.verdict.value;
  check.exit = !gate.invalid.empty()          ? ExitCode::kEnvironmentInvalid
               : gate.verdict == Verdict::kNo ? ExitCode::kGateFailed
                                              : ExitCode::kInconclusive;
  check.text = fmt::format("{}: {}", gate.verdict.words(), gate.detail);
  return check;
}

std::vector<Check> checks_of(const result::RunResult& run, const Strictness& strictness) {
  std::vector<Check> checks;
  for (const auto& one : run.cases) checks.push_back(check_of(run, one, strictness));
  if (auto unfinished = unfinished_text(run); !unfinished.empty())
    checks.push_back({.name = "the whole run",
                      .verdict = Verdict::kCannotSay,
                      .text = std::move(unfinished),
                      .exit = ExitCode::kSkipped,  // whoever interrupted it decides
                      .group = kCaseChecks});
  for (const auto& gate : run.gates) checks.push_back(check_of(gate));
  return checks;
}

}  // namespace paceline::analysis
