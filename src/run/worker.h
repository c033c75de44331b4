// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "run/record_reader.h"
#include "run/worker_end.h"
#include "workload/pass.h"
#include "workload/records.h"

// One worker process from start to end: the only place that starts, watches and kills processes.
namespace paceline::run {

struct WorkerRequest {
  workload::PassSpec spec;
  std::map<std::string, std::string> env;  // added to this process's environment
  std::filesystem::path log;               // stdout and stderr are appended
  std::filesystem::path
      record_file;  // the record stream as it came; complete when it has no ".part"; empty: not kept
  double timeout_s = 600;
};

// ok, or why not in words a person understands. reason_code: crash oom killed timeout protocol exit
// interrupted peer hung (ranks.h), or what the worker reported itself: unsupported unavailable data config
// error.
struct WorkerOutcome {
  workload::PassReport report;
  bool ok = false;
  std::string reason_code;
  std::string reason;
  // Of ranks that failed, on SteadyClock; 0: not known. When the one to blame announced a fault on purpose,
  // and when the first failure was noticed.
  std::int64_t fault_ns = 0, noticed_ns = 0;
};

// Of a worker that prepares something for a command: its exit code follows. kInternal for a worker that
// crashed, was killed, ran out of memory or broke the protocol.
ErrorCode error_code_of(const std::string& reason_code);

// Starts this executable as a worker in its own process group, reads its records, enforces the deadline, and
// stops it when `interrupt` becomes true (SIGTERM, two seconds later SIGKILL). Leaves no process of the group
// behind.
WorkerOutcome run_worker(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                         const OnProgress& on_progress);

// The same pass in the calling process, for people who put their own profiler or debugger in front.
WorkerOutcome run_in_process(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                             const OnProgress& on_progress);

// What a worker's environment has on top of ours: threads, the case's own, a block of varying size.
std::map<std::string, std::string> worker_environment(const WorkerRequest& request);

// Keeps or drops the record file. No verdict: it went well.
WorkerOutcome worker_outcome(RecordReader& reader, std::optional<Verdict> verdict);

// What the worker executable does: read the spec, run the pass, write records. Returns the process's exit
// code.
int worker_main(int spec_fd, int record_fd);

}  // namespace paceline::run
