// SPDX-License-Identifier: MIT
#include "run/executors.h"

#include "run/ranks/launch.h"
#include "run/ranks/ranks.h"
#include "run/ranks/restarts.h"
#include "workload/worker_main.h"

namespace paceline::run {

using process::OnProgress;
using process::WorkerOutcome;
using process::WorkerRequest;

WorkerOutcome ProcessExecutor::run(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                                   const OnProgress& on_progress) {
  const auto& traits = pass::traits_of(request.spec.kind);
  if (in_process_ && traits.timed) return workload::run_in_process(request, interrupt, on_progress);
  return (traits.by_ranks ? run_ranks : process::run_worker)(request, interrupt, on_progress);
}

WorkerOutcome RankedExecutor::run(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                                  const OnProgress& on_progress) {
  const auto& traits = pass::traits_of(request.spec.kind);
  if (!traits.by_ranks || (setup_.in_process && traits.timed))
    return processes_.run(request, interrupt, on_progress);
  if (setup_.launch) return setup_.launch->run_pass(processes_, request, interrupt, on_progress);
  return run_restarting(processes_, request, interrupt, on_progress);
}

}  // namespace paceline::run
