// SPDX-License-Identifier: MIT
#include "run/resume.h"

#include <algorithm>

namespace paceline::run {
namespace {

using workload::PassKind;

// --only names a case that is over.
bool asked_again(const RunSetup& setup, const CaseRun& c) {
  if (setup.only.empty() || !c.selected) return false;
  const auto& cases = setup.previous.run.cases;
  return std::any_of(cases.begin(), cases.end(), [&](const result::CaseResult& r) {
    return r.case_id == c.definition.id && (r.complete || r.outcome == result::Outcome::kFailed);
  });
}

std::string device_param(const result::CaseResult& r) {
  const auto found = r.benchmark.params.find("device");
  return found == r.benchmark.params.end() ? std::string() : found->second;
}

// device: auto may stand for another device than when the run began; its repetitions are no repetitions here.
bool measured_elsewhere(const RunSetup& setup, const CaseRun& c) {
  const auto& cases = setup.previous.run.cases;
  return std::any_of(cases.begin(), cases.end(), [&](const result::CaseResult& r) {
    return r.case_id == c.definition.id && !r.repetitions.empty() &&
           device_param(r) != device_param(c.result);
  });
}

// False: there is none.
bool take_over_check(CaseRun& c, CasePeaks& peaks) {
  const auto checked = read_record_file(c.record_file(PassKind::kCheck, 0));
  if (!checked) return false;
  peaks.fill(c);
  apply_check(c, *checked);
  return true;
}

void take_over_repetitions(CaseRun& c) {
  for (std::int64_t r = 0; r < c.result.repetitions_planned && !c.ended; ++r)
    if (const auto report = read_record_file(c.record_file(PassKind::kTimed, r)))
      apply_repetition(c, *report);
}

void take_over_extras(const RunSetup& setup, CaseRun& c) {
  for (const auto& before : setup.previous.run.cases) {
    if (before.case_id != c.definition.id) continue;
    if (before.cross_check.ratio.value) c.result.cross_check = before.cross_check;
    if (before.layer_profile.sum_ns) c.result.layer_profile = before.layer_profile;
    if (!before.operator_profile.empty()) c.result.operator_profile = before.operator_profile;
  }
}

}  // namespace

void take_over(const RunSetup& setup, CaseRun& c, CasePeaks& peaks) {
  if (setup.previous.folder.empty() || c.ended) return;
  if (asked_again(setup, c) || measured_elsewhere(setup, c)) return set_passes_aside(c);
  if (!c.trains() && !take_over_check(c, peaks)) return;
  take_over_repetitions(c);
  take_over_extras(setup, c);
}

}  // namespace paceline::run
