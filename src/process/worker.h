// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pass/pass.h"
#include "pass/records.h"
#include "process/record_reader.h"
#include "process/spawn.h"
#include "process/worker_end.h"

// One pass in one worker process, from start to end.
namespace paceline::process {

// Which of a pass's ranks (spec.world_size) are ours. The others are started by other processes of the
// launch, on this host or elsewhere.
struct RankShare {
  int first = 0;        // the lowest
  int count = 0;        // 0: all of the pass, on this host
  int local_first = 0;  // ranks of the launch on this host that come before ours
  int cpus_first = 0;   // ranks that share our CPUs and come before ours
  int cpus_ranks = 0;   // all that share them, ours included; 0: count
};

struct WorkerRequest {
  pass::PassSpec spec;
  std::map<std::string, std::string> env;  // added to this process's environment
  std::filesystem::path log;               // stdout and stderr are appended
  std::filesystem::path
      record_file;  // the record stream as it came, once the pass is complete; empty: not kept
  double timeout_s = 600;
  std::size_t number = 0;  // of a pass of a launch, counted by its leader
  int max_restarts = 0;    // of ranks that fail, from their last checkpoint
  RankShare share{};       // of a pass by ranks
  Front front{};           // of the worker; of a pass by ranks, of rank 0 alone
};

// ok, or why not: a code of result/judged/reasons.h, and words that a person understands.
struct WorkerOutcome {
  pass::PassReport report;
  bool ok = false;
  std::string reason_code;
  std::string reason;
  // For failed ranks: when an injected fault was announced, and when the first failure was noticed
  // (SteadyClock; 0: not known).
  std::int64_t fault_ns = 0, noticed_ns = 0;
};

// Starts this executable as a worker in its own process group, reads its records, enforces the deadline, and
// stops it when `interrupt` becomes true (SIGTERM, two seconds later SIGKILL). Leaves no process of the group
// behind.
WorkerOutcome run_worker(const WorkerRequest& request, const std::atomic<bool>& interrupt,
                         const OnProgress& on_progress);

// A timed pass, and who hears how it goes.
struct HeardRequest {
  WorkerRequest request;
  OnProgress on_progress;
};

// Runs timed passes that work in turns (measure/turns.h), each in a worker as above: one after the other
// starts and warms up, then they measure. One that fails leaves the others to work without it. Outcomes are
// in the order of the requests.
std::vector<WorkerOutcome> run_workers_in_turns(const std::vector<HeardRequest>& passes,
                                                const std::atomic<bool>& interrupt);

// Outcome of a pass that was not started because the run was interrupted.
WorkerOutcome interrupted_before_start();

// Variables of a worker on top of ours: threads, the case's own, a block of varying size.
std::map<std::string, std::string> worker_environment(const WorkerRequest& request);

// Outcome of a pass; its records are kept if nothing went wrong. `report` is taken.
WorkerOutcome worker_outcome(const RecordReader& reader, pass::PassReport& report,
                             const std::optional<Verdict>& verdict);

}  // namespace paceline::process
