// SPDX-License-Identifier: MIT
// How passes are run for real, and what becomes of passes by ranks however they are run.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "process/pass_executor.h"
#include "run/case/run_setup.h"

namespace paceline::run {

// Runs a pass in a worker, or in a worker for each rank of the request's share.
class ProcessExecutor : public process::PassExecutor {
 public:
  // Chooses the program that a timed pass is started under; empty: none.
  using FrontOf = std::function<process::Front(const process::WorkerRequest&)>;
  // `in_process`: timed passes run in the calling process, for people who put their own profiler or debugger
  // in front.
  explicit ProcessExecutor(bool in_process = false, FrontOf front_of = {})
      : in_process_(in_process), front_of_(std::move(front_of)) {}
  process::WorkerOutcome run(const process::WorkerRequest& request, const std::atomic<bool>& interrupt,
                             const process::OnProgress& on_progress) override;
  std::vector<process::WorkerOutcome> run_in_turns(const std::vector<process::HeardRequest>& passes,
                                                   const std::atomic<bool>& interrupt) override;

 private:
  bool in_process_;
  FrontOf front_of_;
};

// Restarts ranks that fail, or starts those that a launch leaves to us. Each start is a pass of `processes`.
class RankedExecutor : public process::PassExecutor {
 public:
  // Both outlive this.
  RankedExecutor(process::PassExecutor& processes, const RunSetup& setup)
      : processes_(processes), setup_(setup) {}
  process::WorkerOutcome run(const process::WorkerRequest& request, const std::atomic<bool>& interrupt,
                             const process::OnProgress& on_progress) override;
  std::vector<process::WorkerOutcome> run_in_turns(const std::vector<process::HeardRequest>& passes,
                                                   const std::atomic<bool>& interrupt) override {
    return processes_.run_in_turns(passes, interrupt);
  }

 private:
  process::PassExecutor& processes_;
  const RunSetup& setup_;
};

}  // namespace paceline::run
