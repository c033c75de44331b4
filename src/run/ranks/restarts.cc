// SPDX-License-Identifier: MIT
#include "run/ranks/restarts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/fault.h"
#include "pass/records.h"
#include "process/kept_records.h"
#include "result/judged/reasons.h"

namespace paceline::run {
namespace {

bool worth_another_try(const process::WorkerOutcome& outcome) {
  return !outcome.ok && result::reason_of(outcome.reason_code).restarts;
}

// The step that a fault on purpose came before: none after it was done.
Count step_of_fault(const process::WorkerRequest& request, const process::WorkerOutcome& outcome) {
  const auto& inject = std::get<pass::TrainSpec>(request.spec.task).inject;
  if (inject.empty() || outcome.fault_ns == 0)
    return Count::missing("the last step before the fault is not known");
  return parse_fault(inject).step;
}

// Known when the ranks failed; what came afterwards is added by `add_return`.
result::RestartFigures figures_of_failure(const process::WorkerRequest& request,
                                          const process::WorkerOutcome& outcome) {
  result::RestartFigures figures;
  figures.cause = outcome.reason;
  figures.detect_ns = outcome.fault_ns > 0 && outcome.noticed_ns > outcome.fault_ns
                          ? Number(static_cast<double>(outcome.noticed_ns - outcome.fault_ns))
                          : Number::missing("the moment of the fault is not known");
  figures.first_step_ns = Number::missing("the ranks failed again");
  figures.steps_lost = Count::missing("the ranks failed again");
  figures.world_before = figures.world_after = request.spec.world_size;
  return figures;
}

// All ranks are on this machine, so their clocks are ours.
void add_return(result::RestartFigures& figures, const Count& fault_step, std::int64_t noticed_ns,
                const pass::PassReport& report) {
  const auto& tables = report.get<pass::TrainingReport>().rank_steps;
  if (tables.empty() || tables.front().rows.empty()) return;
  const auto& first = tables.front().rows.front();
  figures.first_step_ns = static_cast<double>(first.start_ns + first.step_ns - noticed_ns);
  figures.steps_lost = fault_step;
  if (fault_step) figures.steps_lost = std::max<std::int64_t>(0, *fault_step - first.step);
}

// In the report, and in the records that a later --resume reads.
void keep(const process::WorkerRequest& request, pass::PassReport& report,
          const std::vector<result::RestartFigures>& restarts) {
  const auto record = pass::restarts_record(restarts);
  pass::apply_record(report, record);
  if (!request.record_file.empty() && report.get<pass::TrainingReport>().trained.empty())
    process::add_kept_record(request.record_file, record, request.spec.case_id);
}

void tell(const process::OnProgress& on_progress, int restart, int max_restarts, const std::string& reason) {
  pass::ProgressRecord notice;
  notice.notice = fmt::format("restart {} of {} from the last checkpoint: {}", restart, max_restarts, reason);
  if (on_progress) on_progress(notice);
}

}  // namespace

process::WorkerOutcome run_restarting(process::PassExecutor& processes, const process::WorkerRequest& request,
                                      const std::atomic<bool>& interrupt,
                                      const process::OnProgress& on_progress) {
  auto outcome = processes.run(request, interrupt, on_progress);
  process::WorkerRequest again = request;
  auto* train = std::get_if<pass::TrainSpec>(&again.spec.task);
  if (!train || train->checkpoint.dir.empty()) return outcome;
  train->checkpoint.resume = true;
  std::vector<result::RestartFigures> restarts;
  for (int restart = 1; restart <= request.max_restarts && worth_another_try(outcome); ++restart) {
    tell(on_progress, restart, request.max_restarts, outcome.reason);
    restarts.push_back(figures_of_failure(request, outcome));
    const auto fault_step = step_of_fault(again, outcome);
    const auto noticed_ns = outcome.noticed_ns;
    train->inject.clear();  // a fault on purpose comes once
    outcome = processes.run(again, interrupt, on_progress);
    if (outcome.ok) add_return(restarts.back(), fault_step, noticed_ns, outcome.report);
  }
  if (!restarts.empty() && outcome.ok) keep(request, outcome.report, restarts);
  return outcome;
}

}  // namespace paceline::run
