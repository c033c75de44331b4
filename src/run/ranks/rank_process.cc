// SPDX-License-Identifier: MIT
#include "run/ranks/rank_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/clock.h"
#include "host/system_files.h"

namespace paceline::run {
namespace {

constexpr std::array<std::string_view, 5> kTrainingPhases{"measure", "evaluate", "checkpoint",
                                                          "checkpoint_wait", "report"};

}  // namespace

RankProcess::RankProcess(const process::WorkerRequest& request, int socket,
                         const process::OnProgress& on_progress)
    : rank_(static_cast<int>(request.spec.rank)),
      worker_(
          request.spec,
          {process::worker_environment(request), request.log, socket, request.spec.pin_cpus, request.front},
          process::RecordReader(
              request.record_file,
              [this, on_progress](const pass::ProgressRecord& p) {
                if (p.step) step_ = *p.step;
                if (p.fault_ns > 0) fault_ns_ = p.fault_ns;
                if (on_progress && (rank_ == 0 || !p.notice.empty())) on_progress(p);
              },
              request.spec.case_id)) {}

bool RankProcess::trains() {
  return std::find(kTrainingPhases.begin(), kTrainingPhases.end(), phase()) != kTrainingPhases.end();
}

// A rank that reports a failure has failed, even while it still runs.
void RankProcess::look(std::int64_t now_ns) {
  worker_.look();
  const auto& report = worker_.report();
  if (at_ != report.at) at_ = report.at, at_since_ns_ = now_ns;
  if (!failure_ && !report.error_code.empty()) failure_ = process::Verdict{report.error_code, report.error};
  if (!failure_) failure_ = worker_.failure();
  if (failure_ && failed_ns_ == 0) failed_ns_ = now_ns;
}

std::optional<double> RankProcess::late_with_checkpoint(std::int64_t now_ns, double after_s) {
  if (phase() != "checkpoint")
    saving_since_ns_ = 0, reported_late_ = false;
  else if (saving_since_ns_ == 0)
    saving_since_ns_ = now_ns;
  const double seconds = static_cast<double>(now_ns - saving_since_ns_) * 1e-9;
  if (saving_since_ns_ == 0 || reported_late_ || !worker_.running() || seconds < after_s) return std::nullopt;
  reported_late_ = true;
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
  const auto stat = host::SystemFiles{}.read(fmt::format("proc/{}/stat", worker_.pid())).value_or("");
  const auto end = stat.rfind(')');
  const char letter = end != std::string::npos && end + 2 < stat.size() ? stat[end + 2] : '?';
  if (letter == 'T' || letter == 't') return "it is stopped by a signal (SIGSTOP or a debugger)";
  if (letter == 'D') return "it waits for a device or file system";
  return "it runs but does not answer";
}

}  // namespace paceline::run
