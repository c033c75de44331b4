// SPDX-License-Identifier: MIT
#include "run/pass_runner.h"

#include <fmt/format.h>

#include <ctime>

#include "base/file.h"
#include "base/units.h"
#include "run/launch.h"
#include "run/pass_factory.h"
#include "run/restarts.h"

namespace paceline::run {

using workload::PassKind;

WorkerOutcome PassRunner::run(const CaseRun& c, const workload::PassSpec& pass, std::size_t number) const {
  return start(c, request_of(c, pass), number);
}

WorkerOutcome PassRunner::run_kept(const CaseRun& c, const workload::PassSpec& pass,
                                   std::size_t number) const {
  auto request = request_of(c, pass);
  request.record_file = c.record_file(pass.kind, pass.repetition);
  return start(c, request, number);
}

WorkerRequest PassRunner::request_of(const CaseRun& c, const workload::PassSpec& pass) const {
  WorkerRequest request{pass, c.definition.env, c.log(), {}, timeout_of(c.definition)};
  request.env.emplace("TMPDIR", temp_folder_.string());
  return request;
}

WorkerOutcome PassRunner::start(const CaseRun& c, const WorkerRequest& request, std::size_t number) const {
  const auto kind = request.spec.kind;
  append_file(request.log, fmt::format("# {} {} pass, repetition {}\n", format_utc(std::time(nullptr)),
                                       workload::pass_kind_name(kind), request.spec.repetition));
  const auto on_progress = [&](const workload::ProgressRecord& p) {
    p.notice.empty() ? observer_.progress(p) : observer_.notice(p.notice);
  };
  if (setup_.in_process && (kind == PassKind::kTimed || kind == PassKind::kTrain))
    return run_in_process(request, interrupt_, on_progress);
  const bool trains = kind == PassKind::kTrain || kind == PassKind::kTrainProfile;
  if (trains && setup_.launch) return setup_.launch->run_pass(number, request, interrupt_, on_progress);
  if (kind == PassKind::kTrainProfile) return run_ranks(request, {}, interrupt_, on_progress);
  if (kind == PassKind::kTrain)
    return run_ranks_restarting(request, {}, static_cast<int>(c.definition.settings.integer("max_restarts")),
                                interrupt_, on_progress);
  return run_worker(request, interrupt_, on_progress);
}

}  // namespace paceline::run
