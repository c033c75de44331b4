// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/handle.h"
#include "host/oom.h"
#include "run/record_reader.h"
#include "run/spawn.h"
#include "run/worker.h"
#include "run/worker_end.h"

namespace paceline::run {

// The worker of one rank, from its start to its end.
class RankProcess {
 public:
  // `socket`: what it is handed to serve the store on; -1: nothing.
  RankProcess(const WorkerRequest& request, int socket, const OnProgress& on_progress);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int records() const { return pipe_.read_end.get(); }  // to poll
  [[nodiscard]] bool running() const { return running_; }
  [[nodiscard]] const std::optional<Verdict>& failure() const { return failure_; }
  [[nodiscard]] RecordReader& reader() { return reader_; }
  [[nodiscard]] const std::string& phase() { return reader_.report().phase; }
  [[nodiscard]] bool trains();  // it has begun with its steps
  void signal(int signal) const;

  // Takes what it said, and notices its end or that it has failed.
  void look(const host::OomCounters& oom_before, std::int64_t now_ns);
  // Seconds that it has been at its part of a checkpoint, once they are more than `after_s`; told once.
  std::optional<double> late_with_checkpoint(std::int64_t now_ns, double after_s);

  // On SteadyClock; 0: never. When it was seen to have failed, and when it announced a fault on purpose.
  [[nodiscard]] std::int64_t failed_ns() const { return failed_ns_; }
  [[nodiscard]] std::int64_t fault_ns() const { return fault_ns_; }
  // Nobody dies of a signal because a peer is gone.
  [[nodiscard]] bool killed() const;

  [[nodiscard]] std::string position();         // in phase 'measure', after step 50
  [[nodiscard]] std::string last_step() const;  // ; its last known step is 50
  [[nodiscard]] std::string state() const;      // what the kernel says it is doing

 private:
  void take(const host::OomCounters& oom_before);
  void take_records();

  int rank_;
  std::optional<std::int64_t> step_;  // the last that it told of
  std::int64_t saving_since_ns_ = 0;
  bool told_late_ = false;
  std::int64_t failed_ns_ = 0;
  std::int64_t fault_ns_ = 0;
  FileDescriptor spec_file_;
  Pipe pipe_;
  RecordReader reader_;
  ChildProcess child_;
  bool running_ = true;
  std::optional<Verdict> failure_;
};

}  // namespace paceline::run
