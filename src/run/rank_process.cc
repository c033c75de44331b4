// SPDX-License-Identifier: MIT
#include "run/rank_process.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "host/system_files.h"

namespace paceline::run {
namespace {

constexpr std::array<std::string_view, 5> kTrainingPhases{"measure", "evaluate", "checkpoint",
                                                          "checkpoint_wait", "report"};

}  // namespace

RankProcess::RankProcess(const WorkerRequest& request, int socket, const OnProgress& on_progress)
    : rank_(static_cast<int>(request.spec.rank)),
      spec_file_(memory_file(workload::to_json(request.spec).dump())),
      pipe_(record_pipe()),
      reader_(
          request.record_file,
          [this, on_progress](const workload::ProgressRecord& p) {
            if (p.step) step_ = *p.step;
            if (p.fault) fault_ns_ = SteadyClock{}.now_ns();
            if (on_progress && (rank_ == 0 || !p.notice.empty())) on_progress(p);
          },
          request.spec.case_id),
      child_({worker_command_line(), worker_environment(request), request.log, spec_file_.get(),
              pipe_.write_end.get(), socket, request.spec.pin_cpus}) {
  pipe_.write_end.reset();
}

bool RankProcess::trains() {
  return std::find(kTrainingPhases.begin(), kTrainingPhases.end(), phase()) != kTrainingPhases.end();
}

void RankProcess::signal(int signal) const {
  if (running_) child_.signal_group(signal);
}

bool RankProcess::killed() const {
  return !running_ && WIFSIGNALED(child_.wait_status());
}

void RankProcess::look(const host::OomCounters& oom_before, std::int64_t now_ns) {
  take(oom_before);
  if (failure_ && failed_ns_ == 0) failed_ns_ = now_ns;
}

std::optional<double> RankProcess::late_with_checkpoint(std::int64_t now_ns, double after_s) {
  if (phase() != "checkpoint")
    saving_since_ns_ = 0, told_late_ = false;
  else if (saving_since_ns_ == 0)
    saving_since_ns_ = now_ns;
  const double seconds = static_cast<double>(now_ns - saving_since_ns_) * 1e-9;
  if (saving_since_ns_ == 0 || told_late_ || !running_ || seconds < after_s) return std::nullopt;
  told_late_ = true;
  return seconds;
}

std::string RankProcess::position() {
  const auto after = step_ ? fmt::format(", after step {}", *step_) : std::string();
  return fmt::format("in phase '{}'{}", phase(), after);
}

std::string RankProcess::last_step() const {
  return step_ ? fmt::format("; its last known step is {}", *step_) : std::string();
}

std::string RankProcess::state() const {
  const auto stat = host::SystemFiles{}.read(fmt::format("proc/{}/stat", child_.pid())).value_or("");
  const auto end = stat.rfind(')');
  const char letter = end != std::string::npos && end + 2 < stat.size() ? stat[end + 2] : '?';
  if (letter == 'T' || letter == 't') return "it is stopped by a signal (SIGSTOP or a debugger)";
  if (letter == 'D') return "it waits for a device or file system";
  return "it runs but does not answer";
}

void RankProcess::take(const host::OomCounters& oom_before) {
  if (!running_) return;
  const bool ended = child_.ended();  // asked first: what it said before its end is in the pipe
  take_records();
  const auto& report = reader_.report();
  if (!failure_ && !report.error_code.empty()) failure_ = Verdict{report.error_code, report.error};
  if (!ended) return;
  running_ = false;
  const int status = child_.wait_status();
  const bool clean = report.done && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!clean && !failure_)
    failure_ = explain_end(report, status, host::oom_evidence(oom_before, host::read_oom_counters()));
}

void RankProcess::take_records() {
  try {
    reader_.drain(records());
  } catch (const Error& e) {
    if (!failure_) failure_ = Verdict{"protocol", fmt::format("the worker sent {}", e.what())};
    child_.signal_group(SIGKILL);
  }
}

}  // namespace paceline::run
