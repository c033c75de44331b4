// SPDX-License-Identifier: MIT
#include "run/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "process/kept_records.h"
#include "run/case/kind_rules.h"
#include "run/case/model_identity.h"
#include "run/more_pairs.h"

namespace paceline::run {
namespace {

using pass::PassKind;

// Where no summary tells of the case: every repetition has its file.
bool has_all_records(const CaseRun& c) {
  std::int64_t r = 0;
  while (r < c.result.repetitions_planned && std::filesystem::exists(c.record_file(PassKind::kTimed, r))) ++r;
  return r > 0 && r == c.result.repetitions_planned;
}

// --only names a case that is over.
bool asked_again(const RunSetup& setup, const CaseRun& c) {
  if (setup.only.empty() || !c.selected) return false;
  const auto& cases = setup.previous.run.cases;
  const auto before = std::find_if(cases.begin(), cases.end(),
                                   [&](const result::CaseResult& r) { return r.case_id == c.definition.id; });
  if (before == cases.end()) return has_all_records(c);
  return before->complete || before->outcome == result::Outcome::kFailed;
}

// device: auto may stand for another device than when the run began; its repetitions are no repetitions here.
bool measured_elsewhere(const RunSetup& setup, const CaseRun& c) {
  const auto& cases = setup.previous.run.cases;
  return std::any_of(cases.begin(), cases.end(), [&](const result::CaseResult& r) {
    return r.case_id == c.definition.id && !r.repetitions.empty() &&
           r.benchmark.device != c.result.benchmark.device;
  });
}

// The records of a pass, where they fit; what does not is named, and stays under another name.
std::optional<pass::PassReport> fitting_records(const CaseRun& c, PassKind kind, std::int64_t repetition,
                                                RunObserver& observer) {
  const auto file = c.record_file(kind, repetition);
  auto kept = process::read_kept_records(file, c.definition.id);
  const bool other = kept.report && kind == PassKind::kTimed && kept.report->repetition.index != repetition;
  if (other) kept = {{}, "it belongs to another repetition"};
  if (kept.problem.empty()) return std::move(kept.report);
  observer.warning(fmt::format("'{}' is not taken over: {}; it is measured again, and the file is kept",
                               file.string(), kept.problem));
  process::set_file_aside(file);
  return std::nullopt;
}

bool has_repetitions(const CaseRun& c) {
  for (std::int64_t r = 0; r < c.result.repetitions_planned; ++r)
    if (std::filesystem::exists(c.record_file(PassKind::kTimed, r))) return true;
  return false;
}

// False: there is none, and so nothing that follows from it.
bool take_over_check(CaseRun& c, KindInRun& kind, RunObserver& observer) {
  const auto checked = fitting_records(c, PassKind::kCheck, 0, observer);
  if (!checked) {
    if (has_repetitions(c)) set_passes_aside(c);
    return false;
  }
  kind.restore_check(c, *checked);
  return true;
}

void take_over_repetitions(CaseRun& c, RunObserver& observer) {
  for (std::int64_t r = 0; r < c.result.repetitions_planned && !c.ended; ++r)
    if (auto report = fitting_records(c, PassKind::kTimed, r, observer))
      apply_repetition(c, std::move(*report));
}

// They stand until the repetition is measured from its beginning.
void take_over_unfinished(CaseRun& c) {
  for (std::int64_t r = 0; r < c.result.repetitions_planned && !c.ended; ++r)
    if (const auto report = process::read_unfinished_records(c.record_file(PassKind::kTimed, r)))
      kind_rules(c.definition.kind).keep_unfinished(c, r, *report);
}

void take_over_extras(const RunSetup& setup, CaseRun& c) {
  for (const auto& before : setup.previous.run.cases) {
    if (before.case_id != c.definition.id) continue;
    if (before.cross_check.ratio.value) c.result.cross_check = before.cross_check;
    if (before.layer_profile.sum_ns) c.result.layer_profile = before.layer_profile;
    if (before.operator_profile) c.result.operator_profile = before.operator_profile;
    c.result.picture_parts = before.picture_parts;
    c.result.pictures_left_out = before.pictures_left_out;
  }
}

bool has_records(const CaseRun& c) {
  return has_repetitions(c) || std::filesystem::exists(c.record_file(PassKind::kCheck, 0));
}

// The model's files are others than those that were measured. A case that is not measured now keeps its
// figures, and what was known of its model.
bool has_another_model(const RunSetup& setup, CaseRun& c, RunObserver& observer) {
  const auto change = changed_model_file(c);
  if (change.empty()) return false;
  if (!has_records(c)) return true;
  observer.warning(fmt::format("{}: {}; {}", c.result.label, change,
                               c.selected ? "the case is measured again, and its earlier records are kept"
                                          : "its figures are those of the earlier file"));
  if (c.selected) return true;
  for (const auto& before : setup.previous.run.cases)
    if (before.case_id == c.definition.id)
      c.result.model_file = before.model_file, c.result.flops = before.flops;
  return false;
}

// The earlier result stands until newer repetitions take the place of its own. False: there is none.
bool take_over_until_measured(const RunSetup& setup, CaseRun& c, RunObserver& observer) {
  CaseRun earlier = c;
  take_over_repetitions(earlier, observer);
  if (earlier.result.repetitions.empty() || earlier.result.outcome != result::Outcome::kOk) return false;
  take_over_extras(setup, earlier);
  earlier.ended = false;
  for (const auto& r : earlier.result.repetitions) earlier.again.insert(r.index);
  c = std::move(earlier);
  return true;
}

}  // namespace

void take_over(const RunSetup& setup, CaseRun& c, KindInRun& kind, RunObserver& observer) {
  if (setup.previous.folder.empty() || c.ended) return;
  for (const auto& before : setup.previous.run.cases)
    if (before.case_id == c.definition.id)
      c.result.repetitions_planned = planned_before(c, before.repetitions_planned);
  const bool other = measured_elsewhere(setup, c) || has_another_model(setup, c, observer);
  const bool again = asked_again(setup, c);
  const auto& rules = kind_rules(c.definition.kind);
  if (again && !other && rules.may_be_done(c) && take_over_until_measured(setup, c, observer)) return;
  if (again || other) return set_passes_aside(c);
  if (rules.has_check() && !take_over_check(c, kind, observer)) return;
  take_over_repetitions(c, observer);
  take_over_unfinished(c);
  take_over_extras(setup, c);
}

}  // namespace paceline::run
