// SPDX-License-Identifier: MIT
#include "process/worker.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "process/kept_records.h"
#include "process/running_worker.h"

namespace paceline::process {
namespace {

constexpr int kStoppingPollMs = 50;                      // while a child is being stopped
constexpr std::int64_t kSigtermGraceNs = 2'000'000'000;  // between SIGTERM and SIGKILL

// Watches the worker until it has ended. An interrupt or the deadline stops it.
void watch(RunningWorker& worker, double timeout_s, const std::atomic<bool>& interrupt) {
  const SteadyClock clock;
  std::int64_t deadline = clock.now_ns() + static_cast<std::int64_t>(timeout_s * 1e9);
  std::int64_t kill_at = 0;  // 0: it is not being stopped
  const auto stop = [&](int signal, Verdict why) {
    worker.stop(signal, std::move(why));
    kill_at = clock.now_ns() + kSigtermGraceNs;
  };
  while (worker.running()) {
    RunningWorker::wait_for_news({&worker}, kill_at == 0 ? kQuietPollMs : kStoppingPollMs);
    const std::int64_t heard = clock.now_ns();
    worker.look();
    const std::int64_t now = clock.now_ns();
    deadline += now - heard;  // whoever hears it may run other passes meanwhile
    if (kill_at == 0 && interrupt) stop(SIGTERM, {"interrupted", "interrupted"});
    if (kill_at == 0 && now > deadline)
      stop(SIGKILL, {"timeout", fmt::format("no result within timeout_s = {:g} s; it was in phase '{}'",
                                            timeout_s, worker.report().phase)});
    if (kill_at != 0 && now > kill_at) worker.signal(SIGKILL);
  }
}

// Why the tables of a pass cannot be read; nullopt: they can, or there are none.
std::optional<Verdict> read_tables_of(const RecordReader& reader, pass::PassReport& report) {
  try {
    read_tables(report, unfinished_table_of(reader.file()));
    return std::nullopt;
  } catch (const Error& e) {
    return Verdict{"io", e.what()};
  }
}

}  // namespace

std::map<std::string, std::string> worker_environment(const WorkerRequest& request) {
  const auto threads = fmt::format("{}", request.spec.settings.threads);
  std::map<std::string, std::string> env{{"OMP_NUM_THREADS", threads}, {"MKL_NUM_THREADS", threads}};
  // Waiting threads of OpenMP sleep instead of spinning in a pass that nobody times.
  if (pass::traits_of(request.spec.kind).background) env["OMP_WAIT_POLICY"] = "passive";
  for (const auto& [name, value] : request.env) env[name] = value;
  // The size of the environment block shifts the stack: vary it, so that no process start is special.
  env["PACELINE_PAD"] = std::string(static_cast<std::size_t>(SteadyClock{}.now_ns() / 1000 % 1024), 'x');
  return env;
}

WorkerOutcome worker_outcome(const RecordReader& reader, pass::PassReport& report,
                             const std::optional<Verdict>& verdict) {
  WorkerOutcome outcome;
  const auto unread = read_tables_of(reader, report);
  const auto& failed = verdict ? verdict : unread;
  outcome.ok = !failed;
  if (failed) {
    outcome.reason_code = failed->code;
    outcome.reason = failed->reason;
  } else {
    reader.commit();
  }
  outcome.report = std::move(report);
  return outcome;
}

WorkerOutcome run_worker(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                         const OnProgress& on_progress) {
  RunningWorker worker(request.spec, {worker_environment(request), request.log, -1, {}, request.front},
                       RecordReader(request.record_file, on_progress, request.spec.case_id));
  watch(worker, request.timeout_s, interrupt);
  return worker_outcome(worker.reader(), worker.report(), worker.failure());
}

}  // namespace paceline::process
