// SPDX-License-Identifier: MIT
#include "process/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "measure/turns.h"
#include "process/kept_records.h"
#include "process/running_worker.h"

namespace paceline::process {
namespace {

constexpr int kStoppingPollMs = 50;                      // while a child is being stopped
constexpr std::int64_t kSigtermGraceNs = 2'000'000'000;  // between SIGTERM and SIGKILL

using Workers = std::deque<RunningWorker>;

bool any_runs(const Workers& workers) {
  return std::ranges::any_of(workers, &RunningWorker::running);
}

Verdict timeout_of(RunningWorker& worker, double timeout_s) {
  return {"timeout", fmt::format("no result within timeout_s = {:g} s; it was in phase '{}'", timeout_s,
                                 worker.report().phase)};
}

// Watches workers until all have ended; `news` is called whenever one said something or ended, and may start
// more. An interrupt stops them all. So does the deadline, unless `late` names the one that holds the others
// up: they have as long again.
void watch(Workers& workers, double timeout_s, const std::atomic<bool>& interrupt,
           const std::function<void()>& news = {}, const std::function<RunningWorker*()>& late = {}) {
  const SteadyClock clock;
  std::int64_t deadline = clock.now_ns() + static_cast<std::int64_t>(timeout_s * 1e9);
  std::int64_t kill_at = 0;  // 0: they are not being stopped
  const auto stop = [&](int signal, const auto& why_of) {
    for (auto& worker : workers)
      if (worker.running()) worker.stop(signal, why_of(worker));
    kill_at = clock.now_ns() + kSigtermGraceNs;
  };
  while (any_runs(workers)) {
    std::vector<const RunningWorker*> heard_of;
    for (const auto& worker : workers) heard_of.push_back(&worker);
    RunningWorker::wait_for_news(heard_of, kill_at == 0 ? kQuietPollMs : kStoppingPollMs);
    const std::int64_t heard = clock.now_ns();
    for (auto& worker : workers) worker.look();
    const std::int64_t now = clock.now_ns();
    deadline += now - heard;  // whoever hears it may run other passes meanwhile
    if (kill_at == 0 && interrupt)
      stop(SIGTERM, [](const auto&) { return Verdict{"interrupted", "interrupted"}; });
    if (kill_at == 0 && news) news();
    auto* const blamed = kill_at == 0 && now > deadline && late ? late() : nullptr;
    if (blamed) {
      blamed->stop(SIGKILL, timeout_of(*blamed, timeout_s));
      deadline = now + static_cast<std::int64_t>(timeout_s * 1e9);
    }
    if (kill_at == 0 && now > deadline)
      stop(SIGKILL, [&](auto& worker) { return timeout_of(worker, timeout_s); });
    if (kill_at != 0 && now > kill_at)
      for (const auto& worker : workers) worker.signal(SIGKILL);
  }
}

// Workers in turns: the next starts when all before it are ready, or have ended.
class TurnOrder {
 public:
  explicit TurnOrder(const std::vector<HeardRequest>& passes)
      : passes_(passes), turns_(static_cast<int>(passes.size())) {
    start_next();
  }
  [[nodiscard]] Workers& workers() { return workers_; }
  void take_news() {
    bool waits = false;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (!workers_[i].running()) turns_.leave(static_cast<int>(i));
      waits = waits || !turns_.ready(static_cast<int>(i));
    }
    if (!waits && workers_.size() < passes_.size()) start_next();
  }

  // The worker whose turn it is, or that is not ready yet; null: it has ended.
  [[nodiscard]] RunningWorker* late() {
    const int holder = turns_.holder();
    auto& worker = holder < 0 ? workers_.back() : workers_[static_cast<std::size_t>(holder)];
    return worker.running() ? &worker : nullptr;
  }

 private:
  void start_next() {
    const auto& next = passes_[workers_.size()];
    auto spec = next.request.spec;
    spec.inference.seat = std::ssize(workers_);
    workers_.emplace_back(
        spec, RunningWorker::Start{worker_environment(next.request), next.request.log, turns_.file(), {}, {}},
        RecordReader(next.request.record_file, next.on_progress, spec.case_id));
  }

  const std::vector<HeardRequest>& passes_;
  measure::Turns turns_;
  Workers workers_;
};

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
  Workers one;
  auto& worker = one.emplace_back(
      request.spec, RunningWorker::Start{worker_environment(request), request.log, -1, {}, request.front},
      RecordReader(request.record_file, on_progress, request.spec.case_id));
  watch(one, request.timeout_s, interrupt);
  return worker_outcome(worker.reader(), worker.report(), worker.failure());
}

std::vector<WorkerOutcome> run_workers_in_turns(const std::vector<HeardRequest>& passes,
                                                const std::atomic<bool>& interrupt) {
  double timeout_s = 0;
  for (const auto& pass : passes) timeout_s += pass.request.timeout_s;
  TurnOrder order(passes);
  watch(
      order.workers(), timeout_s, interrupt, [&] { order.take_news(); }, [&] { return order.late(); });
  std::vector<WorkerOutcome> outcomes;
  for (auto& worker : order.workers())
    outcomes.push_back(worker_outcome(worker.reader(), worker.report(), worker.failure()));
  while (outcomes.size() < passes.size()) outcomes.push_back(interrupted_before_start());
  return outcomes;
}

WorkerOutcome interrupted_before_start() {
  WorkerOutcome outcome;
  outcome.reason_code = outcome.reason = "interrupted";
  return outcome;
}

}  // namespace paceline::process
