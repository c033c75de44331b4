// SPDX-License-Identifier: MIT
#include "report/junit.h"

#include "answer/render/junit.h"

namespace paceline::report {

using analysis::kCaseChecks, analysis::kGateChecks;

std::string junit_xml(const result::RunResult& run, const analysis::Strictness& strictness) {
  return answer::junit_xml(run.experiment_name, {kCaseChecks, kGateChecks},
                           analysis::checks_of(run, strictness), answer::CheckTimes::kTaken);
}

std::string junit_of_no_run(const std::string& message) {
  return answer::junit_xml("paceline", {kCaseChecks},
                           {{.name = "the whole run",
                             .verdict = answer::Verdict::kCannotSay,
                             .text = message,
                             .group = kCaseChecks}},
                           answer::CheckTimes::kNotTaken);
}

}  // namespace paceline::report
