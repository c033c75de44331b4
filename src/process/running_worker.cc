// SPDX-License-Identifier: MIT
#include "process/running_worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/process_limit.h"

namespace paceline::process {

namespace {

std::vector<std::string> command_line(const Front& front) {
  auto argv = front.argv;
  const auto worker = worker_command_line();
  argv.insert(argv.end(), worker.begin(), worker.end());
  return argv;
}

std::map<std::string, std::string> environment(const RunningWorker::Start& start) {
  auto env = start.env;
  for (const auto& [name, value] : start.front.env) env[name] = value;
  return env;
}

std::uintmax_t size_of(const std::filesystem::path& log) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(log, absent);
  return absent ? 0 : size;
}

}  // namespace

RunningWorker::RunningWorker(const pass::PassSpec& spec, const Start& start, RecordReader reader)
    : log_(start.log),
      log_begins_(size_of(start.log)),
      oom_before_(host::read_oom_counters()),
      spec_file_(memory_file(pass::to_json(spec).dump())),
      pipe_(record_pipe()),
      reader_(std::move(reader)),
      child_({command_line(start.front), environment(start), start.log, spec_file_.get(),
              pipe_.write_end.get(), start.extra_fd, start.cpus}) {
  pipe_.write_end.reset();
}

bool RunningWorker::killed() const {
  return !running_ && WIFSIGNALED(child_.wait_status());
}

void RunningWorker::signal(int signal) const {
  if (running_) child_.signal_group(signal);
}

void RunningWorker::stop(int signal, Verdict why) {
  if (!failure_) failure_ = std::move(why);
  this->signal(signal);
}

bool RunningWorker::look() {
  if (!running_) return false;
  const bool ended = child_.ended();  // asked first: what it said before its end is in the pipe
  take_records();
  if (!ended) return false;
  running_ = false;
  const int status = child_.wait_status();
  const bool clean = report().done && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!clean && !failure_)
    failure_ =
        explained(explain_end(report(), status, host::oom_evidence(oom_before_, host::read_oom_counters())));
  return true;
}

// Libraries that cannot start a thread end the process, and only the log says so.
Verdict RunningWorker::explained(Verdict end) {
  constexpr std::uintmax_t kTail = 1000;
  const auto now = size_of(log_);
  if (!report().error_code.empty() || now <= log_begins_) return end;
  if (!lacks_processes(file_tail(log_, std::min(now - log_begins_, kTail)))) return end;
  return {"error", fmt::format("{} (it was in phase '{}')", process_limit_words(), report().phase)};
}

void RunningWorker::take_records() {
  try {
    reader_.drain(pipe_.read_end.get());
  } catch (const Error& e) {
    stop(SIGKILL, {"protocol", fmt::format("the worker sent {}", e.what())});
  }
}

void RunningWorker::wait_for_news(const std::vector<const RunningWorker*>& workers, int timeout_ms) {
  std::vector<pollfd> waiting;
  for (const auto* one : workers)
    if (one->running()) waiting.push_back({one->pipe_.read_end.get(), POLLIN, 0});
  const int heard = ::poll(waiting.data(), waiting.size(), timeout_ms);
  // A pipe whose process is on its way out is readable without end.
  const bool hung_up =
      std::any_of(waiting.begin(), waiting.end(), [](const pollfd& p) { return p.revents & POLLHUP; });
  if (heard > 0 && hung_up) ::poll(nullptr, 0, 1);
}

}  // namespace paceline::process
