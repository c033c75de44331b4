// SPDX-License-Identifier: MIT
#include "run/coordinator.h"

#include <algorithm>

#include "base/error.h"
#include "run/artefacts.h"
#include "run/case_opening.h"
#include "run/case_peaks.h"
#include "run/case_preparation.h"
#include "run/case_run.h"
#include "run/check_files.h"
#include "run/compare_cases.h"
#include "run/cross_check.h"
#include "run/launch.h"
#include "run/model_identity.h"
#include "run/pass_factory.h"
#include "run/pass_runner.h"
#include "run/quiet.h"
#include "run/result_keeper.h"
#include "run/resume.h"
#include "run/timed_passes.h"
#include "run/train_here.h"
#include "run/training_profiles.h"
#include "workload/memory_budget.h"
#include "workload/precision_limits.h"

namespace paceline::run {
namespace {

bool asks_dump(const CaseRun& c) {
  return c.definition.settings.has("dump_outputs");
}

std::filesystem::path dump_folder(const CaseRun& c) {
  return std::filesystem::absolute(c.definition.settings.text("dump_outputs")) / c.result.case_id;
}

// A check that an earlier part of the run made wrote its files then; whoever moved them wants them again.
bool lacks_dump(const CaseRun& c) {
  return asks_dump(c) && !std::filesystem::exists(dump_folder(c));
}

// What happens to all cases, in order; each step is somebody else's.
class Coordinator {
 public:
  Coordinator(RunSetup setup, result::RunDirectory& directory, RunObserver& observer,
              const std::atomic<bool>& interrupt)
      : setup_(std::move(setup)),
        directory_(directory),
        observer_(observer),
        interrupt_(interrupt),
        keeper_(setup_, directory),
        artefacts_(directory.path()),
        runner_(setup_, artefacts_.temp_folder(), observer, interrupt),
        preparation_(setup_.engines, artefacts_, directory.path(), observer, interrupt,
                     [this](CaseRun& c, const workload::PassSpec& pass) { return runner_.run(c, pass); }),
        peaks_(setup_, directory.path(), observer, interrupt) {}

  result::RunResult run() {
    for (const auto& c : setup_.cases) open(c);
    tell_begin();
    for (auto& c : cases_)
      if (!c.ended && c.selected && !interrupt_ && !c.trains()) check(c);
    TimedPasses(setup_, runner_, keeper_, observer_, interrupt_).run(cases_);
    cross_check_cases();
    profile_cases();
    TrainingProfiles(setup_, runner_, keeper_, artefacts_.temp_folder(), observer_, interrupt_).run(cases_);
    peaks_.conclude(cases_);
    compare_cases(cases_, keeper_.run().resumed_utc);
    return keeper_.finish(cases_, interrupt_);
  }

 private:
  void open(const config::Case& definition);
  void tell_begin();
  void check(CaseRun& c);
  bool prepare(CaseRun& c, workload::PassSpec& pass);
  WorkerOutcome make_files(CaseRun& c, const workload::PassSpec& spec);
  void run_check(CaseRun& c, workload::PassSpec pass);
  void cross_check_cases();
  void profile_cases();
  void profile(CaseRun& c);

  RunSetup setup_;
  result::RunDirectory& directory_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
  ResultKeeper keeper_;
  Artefacts artefacts_;
  PassRunner runner_;
  CasePreparation preparation_;
  CasePeaks peaks_;
  std::vector<CaseRun> cases_;
};

void Coordinator::open(const config::Case& definition) {
  auto c = open_case(setup_, definition, keeper_.run().run_id, directory_);
  take_over(setup_, c, peaks_, observer_);
  if (c.selected && !c.ended) keep_model_identity(c);
  if (c.ended) observer_.case_ends(c.result);
  cases_.push_back(std::move(c));
  keeper_.keep(cases_.back(), cases_);
}

void Coordinator::tell_begin() {
  std::size_t passes = 0, repetitions = 0;
  for (const auto& c : cases_) {
    repetitions = std::max(repetitions, static_cast<std::size_t>(c.result.repetitions_planned));
    if (!c.ended && c.selected)
      passes += static_cast<std::size_t>(c.result.repetitions_planned) - c.result.repetitions.size() +
                c.again.size();
  }
  const auto& run = keeper_.run();
  observer_.run_begins({run.experiment_name, directory_.path().string(), cases_.size(), repetitions, passes,
                        &run.environment});
  tell_training_remarks(setup_.plan, setup_.cases, setup_.engines, setup_.launch ? setup_.launch->hosts() : 1,
                        observer_);
  keeper_.write_summary();
}

void Coordinator::check(CaseRun& c) {
  peaks_.fill(c);
  auto pass = check_pass(c.base);
  if (prepare(c, pass)) {
    const bool known = c.result.correctness.checked || !c.result.precision.executed.empty();  // restored
    if (!known || lacks_dump(c)) run_check(c, pass);
    workload::use_limits(c.base, c.result.benchmark.precision);
    c.base.output_tolerances = timed_tolerances(c.base.tolerance, c.result.correctness);
  }
  if (c.ended) observer_.case_ends(c.result);
  keeper_.keep(c, cases_);
}

WorkerOutcome Coordinator::make_files(CaseRun& c, const workload::PassSpec& spec) {
  const PassInfo info{0, 0, c.result.label, workload::pass_kind_name(spec.kind), 0, 0};
  observer_.pass_begins(info);
  auto outcome = runner_.run(c, spec);
  observer_.pass_ends(info, outcome.ok ? "" : outcome.reason);
  return outcome;
}

// Files of the check pass, which the timed passes share. False: the case has ended, or the run is
// interrupted.
bool Coordinator::prepare(CaseRun& c, workload::PassSpec& pass) {
  try {
    prepare_check_files(
        c.definition, artefacts_, [&](const workload::PassSpec& spec) { return make_files(c, spec); }, pass);
  } catch (const PassFailure& e) {
    const bool unreadable = e.reason_code() == "io";  // a file that the user named
    if (!interrupt_) end_case(c, unreadable ? "data" : e.reason_code(), e.what());
    return false;
  } catch (const workload::OutOfMemory& e) {
    end_case(c, "oom", e.what());
    return false;
  } catch (const Error& e) {
    end_case(c, e.code() == ErrorCode::kConfig ? "config" : "data", e.what());
    return false;
  }
  if (!preparation_.prepare(c, pass)) return false;
  use_model_file(c, pass);
  c.base.input_files = pass.input_files;
  c.base.samples = pass.samples;
  c.base.reference_file = pass.reference_file;
  c.base.reference_name = pass.reference_name;
  return true;
}

void Coordinator::run_check(CaseRun& c, workload::PassSpec pass) {
  if (asks_dump(c)) pass.dump_folder = dump_folder(c);
  const PassInfo info{0, 0, c.result.label, "check", 0, 0};
  observer_.pass_begins(info);
  const auto outcome = runner_.run_kept(c, pass);
  observer_.pass_ends(info, outcome.ok ? "" : outcome.reason);
  if (outcome.ok)
    apply_check(c, outcome.report);
  else if (!interrupt_)
    end_case(c, outcome.reason_code, outcome.reason);
}

void Coordinator::cross_check_cases() {
  for (auto& c : cases_) {
    if (!asks_cross_check(c) || !c.selected || !c.result.complete || c.result.cross_check.ratio.value)
      continue;
    if (interrupt_) return;
    const CrossCheckHelpers helpers{
        artefacts_.temp_folder() / ("cross-check-" + c.definition.id),
        [&](const workload::PassSpec& pass) { return runner_.run(c, pass); },
        [&] { wait_for_quiet(c.definition, Look::kShort, observer_, interrupt_); }};
    cross_check(c, helpers, observer_, interrupt_);
    keeper_.keep(c, cases_);
  }
}

void Coordinator::profile_cases() {
  for (auto& c : cases_)
    if (asks_layer_profile(c) && c.selected && c.result.complete && !c.result.layer_profile.sum_ns &&
        !interrupt_)
      profile(c);
}

void Coordinator::profile(CaseRun& c) {
  auto pass = profile_pass(c.definition, c.base);
  use_model_file(c, pass);
  const PassInfo info{0, 0, c.result.label, "profile", 0, 0};
  observer_.pass_begins(info);
  const auto outcome = pass.input_files.empty() ? not_prepared() : runner_.run(c, pass);
  observer_.pass_ends(info, outcome.ok ? "" : outcome.reason);
  apply_layer_profile(c, outcome);
  keeper_.keep(c, cases_);
}

}  // namespace

result::RunResult run_plan(RunSetup setup, result::RunDirectory& directory, RunObserver& observer,
                           const std::atomic<bool>& interrupt) {
  return Coordinator(std::move(setup), directory, observer, interrupt).run();
}

}  // namespace paceline::run
