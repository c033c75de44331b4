// SPDX-License-Identifier: MIT
#include "run/executors.h"

#include <fmt/format.h>

#include "base/display_text.h"
#include "base/file.h"
#include "base/text.h"
#include "run/ranks/launch.h"
#include "run/ranks/ranks.h"
#include "run/ranks/restarts.h"
#include "workload/worker_main.h"

namespace paceline::run {

using process::OnProgress;
using process::WorkerOutcome;
using process::WorkerRequest;

namespace {

// Output of the program in front, which has the reason if it could not start the worker.
std::string words_of_front(const WorkerRequest& request) {
  if (request.front.argv.empty()) return {};
  constexpr std::size_t kTail = 500;
  std::string said;
  for (const auto& line : split(file_tail(request.log, kTail), '\n'))
    if (line.starts_with("# "))  // where a pass begins
      said.clear();
    else if (!line.empty())
      said += (said.empty() ? "" : " / ") + line;
  const auto name = std::filesystem::path(request.front.argv.front()).filename().string();
  return said.empty() ? fmt::format("; it ran under {}", name)
                      : fmt::format("; it ran under {}, and its log ends with: {}", name, on_one_line(said));
}

}  // namespace

WorkerOutcome ProcessExecutor::run(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                                   const OnProgress& on_progress) {
  const auto& traits = pass::traits_of(request.spec.kind);
  if (in_process_ && traits.timed) return workload::run_in_process(request, interrupt, on_progress);
  const auto& start = traits.by_ranks ? run_ranks : process::run_worker;
  if (!front_of_ || !traits.timed) return start(request, interrupt, on_progress);
  auto under = request;
  under.front = front_of_(request);
  auto outcome = start(under, interrupt, on_progress);
  if (!outcome.ok && !interrupt) outcome.reason += words_of_front(under);
  return outcome;
}

std::vector<WorkerOutcome> ProcessExecutor::run_in_turns(const std::vector<process::HeardRequest>& passes,
                                                         const std::atomic<bool>& interrupt) {
  // A program in front may start the worker late, or hold it.
  if (in_process_ || front_of_) return PassExecutor::run_in_turns(passes, interrupt);
  return process::run_workers_in_turns(passes, interrupt);
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
