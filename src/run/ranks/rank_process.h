// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "process/running_worker.h"
#include "process/worker.h"

namespace paceline::run {

// The worker of one rank, from its start to its end.
class RankProcess {
 public:
  // `socket`: what it is handed to serve the store on; -1: nothing.
  RankProcess(const process::WorkerRequest& request, int socket, const process::OnProgress& on_progress);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const process::RunningWorker& worker() const { return worker_; }
  [[nodiscard]] bool running() const { return worker_.running(); }
  [[nodiscard]] const std::optional<process::Verdict>& failure() const { return failure_; }
  [[nodiscard]] pass::PassReport& report() { return worker_.report(); }
  [[nodiscard]] const std::string& phase() { return worker_.report().phase; }
  [[nodiscard]] bool trains();  // it has begun with its steps
  void signal(int signal) const { worker_.signal(signal); }

  // Takes what it said, and notices its end or that it has failed.
  void look(std::int64_t now_ns);
  // Seconds that it has been at its part of a checkpoint, once they are more than `after_s`; returned once.
  std::optional<double> late_with_checkpoint(std::int64_t now_ns, double after_s);

  // On SteadyClock: when it began what its report is `at`; 0: nothing.
  [[nodiscard]] std::int64_t at_since_ns() const { return at_since_ns_; }
  // On SteadyClock; 0: never. When it was seen to have failed, and when it announced a fault on purpose.
  [[nodiscard]] std::int64_t failed_ns() const { return failed_ns_; }
  [[nodiscard]] std::int64_t fault_ns() const { return fault_ns_; }
  // It ended by a signal, which never happens because a peer is gone.
  [[nodiscard]] bool killed() const { return worker_.killed(); }

  [[nodiscard]] std::string position();         // in phase 'measure', after step 50
  [[nodiscard]] std::string last_step() const;  // ; its last known step is 50
  [[nodiscard]] std::string state() const;      // what the kernel says it is doing

 private:
  int rank_;
  std::optional<std::int64_t> step_;  // the last that it reported
  std::string at_;                    // as its report said last
  std::int64_t at_since_ns_ = 0;
  std::int64_t saving_since_ns_ = 0;
  bool reported_late_ = false;
  std::int64_t failed_ns_ = 0;
  std::int64_t fault_ns_ = 0;
  process::RunningWorker worker_;
  std::optional<process::Verdict> failure_;
};

}  // namespace paceline::run
