// SPDX-License-Identifier: MIT
#include "run/worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cluster/peer_failure.h"
#include "host/oom.h"
#include "run/instances.h"
#include "run/spawn.h"
#include "run/store_process.h"
#include "run/worker_end.h"
#include "workload/memory_budget.h"
#include "workload/run_pass.h"

namespace paceline::run {
namespace fs = std::filesystem;
using workload::PassReport;
namespace {

constexpr int kStoppingPollMs = 50;                      // while a child is being stopped
constexpr std::int64_t kSigtermGraceNs = 2'000'000'000;  // between SIGTERM and SIGKILL

// By SIGTERM or SIGHUP, which end a worker at once unless it has something to save.
std::atomic<bool> asked_to_end{false};
static_assert(std::atomic<bool>::is_always_lock_free);

std::string read_all(int fd) {
  std::string content;
  char buffer[4096];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorCode::kInternal, "cannot read the pass");
    content.append(buffer, static_cast<std::size_t>(n));
  }
  return content;
}

// Watches one child until it ended; returns why it was stopped from outside, if it was.
std::optional<Verdict> watch(ChildProcess& child, int record_fd, RecordReader& reader, double timeout_s,
                             const std::atomic<bool>& interrupt) {
  const SteadyClock clock;
  const std::int64_t deadline = clock.now_ns() + static_cast<std::int64_t>(timeout_s * 1e9);
  std::optional<Verdict> verdict;
  std::int64_t kill_at = 0;
  const auto stop = [&](int signal, Verdict why) {
    verdict = std::move(why);
    child.signal_group(signal);
    kill_at = clock.now_ns() + kSigtermGraceNs;
  };
  for (bool open = true; open || !child.ended();) {
    pollfd waiting{record_fd, POLLIN, 0};
    ::poll(open ? &waiting : nullptr, open ? 1 : 0, open && !verdict ? kQuietPollMs : kStoppingPollMs);
    try {
      if (open) open = reader.drain(record_fd);
    } catch (const Error& e) {
      open = false;
      if (!verdict) stop(SIGKILL, {"protocol", fmt::format("the worker sent {}", e.what())});
    }
    const std::int64_t now = clock.now_ns();
    if (!verdict && interrupt) stop(SIGTERM, {"interrupted", "interrupted"});
    if (!verdict && now > deadline)
      stop(SIGKILL, {"timeout", fmt::format("no result within timeout_s = {:g} s; it was in phase '{}'",
                                            timeout_s, reader.report().phase)});
    if (verdict && now > kill_at) child.signal_group(SIGKILL);
    if (child.ended() && open) {  // a grandchild may hold the pipe: take what is there and leave
      try {
        reader.drain(record_fd);
      } catch (const Error& e) {
        if (!verdict) verdict = {"protocol", fmt::format("the worker sent {}", e.what())};
      }
      open = false;
    }
  }
  return verdict;
}

const char* code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kData:
      return "data";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kUsage:
    case ErrorCode::kConfig:
      return "config";
    default:
      return "error";
  }
}

// Of what a worker can say itself, and of one that was stopped.
constexpr std::array<std::pair<std::string_view, ErrorCode>, 6> kErrorCodes{
    {{"data", ErrorCode::kData},
     {"unsupported", ErrorCode::kUnsupported},
     {"unavailable", ErrorCode::kUnavailable},
     {"timeout", ErrorCode::kTimeout},
     {"config", ErrorCode::kUsage},
     {"io", ErrorCode::kIo}}};

void run_any_pass(const workload::PassSpec& spec, workload::RecordSink& sink,
                  const std::atomic<bool>& interrupt) {
  if (spec.kind == workload::PassKind::kStore) return serve_store_process(spec);
  const bool timed = spec.kind == workload::PassKind::kTimed;
  if (timed && spec.load.instance >= 0) return serve_as_instance(spec, sink);
  if (timed && spec.load.instances > 1) return run_on_instances(spec, sink, interrupt);
  workload::run_pass(spec, sink, interrupt);
}

// Runs the pass and turns whatever it throws into a record.
int run_and_report(const workload::PassSpec& spec, workload::RecordSink& sink,
                   const std::atomic<bool>& interrupt) {
  try {
    run_any_pass(spec, sink, interrupt);
    sink.emit(workload::done_record());
    return 0;
  } catch (const InstanceDied& e) {
    sink.emit(workload::failed_record(e.verdict().code, e.verdict().reason));
  } catch (const cluster::PeerFailure& e) {
    sink.emit(workload::failed_record("peer", e.what()));
  } catch (const workload::OutOfMemory& e) {
    sink.emit(workload::failed_record("oom", e.what()));
  } catch (const Error& e) {
    if (lacks_room(e.what()))
      sink.emit(workload::failed_record("oom",
                                        fmt::format("out of memory: {}{}", e.what(), address_limit_words())));
    else
      sink.emit(workload::failed_record(code_name(e.code()), e.what()));
  } catch (const std::bad_alloc&) {
    sink.emit(workload::failed_record(
        "oom", "out of memory: an allocation was refused; use a smaller batch" + address_limit_words()));
  } catch (const std::exception& e) {
    sink.emit(workload::failed_record("error", plain_reason(e)));
  }
  return 1;
}

// Hands records straight to a reader.
class DirectSink : public workload::RecordSink {
 public:
  explicit DirectSink(RecordReader& reader) : reader_(reader) {}
  void emit(const nlohmann::json& record) override { reader_.add(record.dump() + "\n"); }

 private:
  RecordReader& reader_;
};

}  // namespace

std::map<std::string, std::string> worker_environment(const WorkerRequest& request) {
  const auto threads = fmt::format("{}", request.spec.settings.threads);
  std::map<std::string, std::string> env{{"OMP_NUM_THREADS", threads}, {"MKL_NUM_THREADS", threads}};
  // What nobody times gives way to busy neighbours: waiting threads of OpenMP sleep instead of spinning.
  using workload::PassKind;
  if (request.spec.kind == PassKind::kReference || request.spec.kind == PassKind::kExport)
    env["OMP_WAIT_POLICY"] = "passive";
  for (const auto& [name, value] : request.env) env[name] = value;
  // The size of the environment block shifts the stack: vary it, so that no process start is special.
  env["PACELINE_PAD"] = std::string(static_cast<std::size_t>(SteadyClock{}.now_ns() / 1000 % 1024), 'x');
  return env;
}

ErrorCode error_code_of(const std::string& reason_code) {
  for (const auto& [name, code] : kErrorCodes)
    if (name == reason_code) return code;
  return ErrorCode::kInternal;
}

WorkerOutcome worker_outcome(RecordReader& reader, std::optional<Verdict> verdict) {
  WorkerOutcome outcome;
  outcome.ok = !verdict;
  if (verdict) {
    reader.discard();
    outcome.reason_code = verdict->code;
    outcome.reason = verdict->reason;
  } else {
    reader.commit();
  }
  outcome.report = std::move(reader.report());
  return outcome;
}

WorkerOutcome run_worker(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                         const OnProgress& on_progress) {
  Pipe pipe = record_pipe();
  const FileDescriptor spec = memory_file(workload::to_json(request.spec).dump());
  const auto oom_before = host::read_oom_counters();
  RecordReader reader(request.record_file, on_progress, request.spec.case_id);
  ChildProcess child(
      {worker_command_line(), worker_environment(request), request.log, spec.get(), pipe.write_end.get()});
  pipe.write_end.reset();
  auto verdict = watch(child, pipe.read_end.get(), reader, request.timeout_s, interrupt);
  const bool clean =
      reader.report().done && WIFEXITED(child.wait_status()) && WEXITSTATUS(child.wait_status()) == 0;
  if (!verdict && !clean)
    verdict = explain_end(reader.report(), child.wait_status(),
                          host::oom_evidence(oom_before, host::read_oom_counters()));
  return worker_outcome(reader, std::move(verdict));
}

WorkerOutcome run_in_process(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                             const OnProgress& on_progress) {
  RecordReader reader(request.record_file, on_progress, request.spec.case_id);
  for (const auto& [name, value] : worker_environment(request)) ::setenv(name.c_str(), value.c_str(), 1);
  DirectSink sink(reader);
  run_and_report(request.spec, sink, interrupt);
  std::optional<Verdict> verdict;
  if (interrupt)
    verdict = {"interrupted", "interrupted"};
  else if (!reader.report().done)
    verdict = {reader.report().error_code, reader.report().error};
  return worker_outcome(reader, std::move(verdict));
}

int worker_main(int spec_fd, int record_fd) {
  const auto spec = workload::pass_from_json(nlohmann::json::parse(read_all(spec_fd)));
  workload::PipeSink sink(record_fd);
  for (const int signal : {SIGTERM, SIGHUP}) {
    if (spec.kind == workload::PassKind::kTrain) std::signal(signal, [](int) { asked_to_end = true; });
    // A scheduler signals every process of a job; the store is needed until the last has ended.
    if (spec.kind == workload::PassKind::kStore) std::signal(signal, SIG_IGN);
  }
  return run_and_report(spec, sink, asked_to_end);
}

}  // namespace paceline::run
