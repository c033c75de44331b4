// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstddef>
#include <filesystem>

#include "run/case_run.h"
#include "run/observer.h"
#include "run/run_setup.h"
#include "run/worker.h"

namespace paceline::run {

// Brings a pass of a case to where it runs: a worker, a worker a rank, the processes of a launch, or this
// one.
class PassRunner {
 public:
  // `temp_folder`: where workers unpack things.
  PassRunner(const RunSetup& setup, std::filesystem::path temp_folder, RunObserver& observer,
             const std::atomic<bool>& interrupt)
      : setup_(setup), temp_folder_(std::move(temp_folder)), observer_(observer), interrupt_(interrupt) {}

  // `number`: of a training pass in the order of all, which a launch goes by.
  WorkerOutcome run(const CaseRun& c, const workload::PassSpec& pass, std::size_t number = 0) const;
  // Its records are kept for --resume.
  WorkerOutcome run_kept(const CaseRun& c, const workload::PassSpec& pass, std::size_t number = 0) const;

 private:
  [[nodiscard]] WorkerRequest request_of(const CaseRun& c, const workload::PassSpec& pass) const;
  [[nodiscard]] WorkerOutcome start(const CaseRun& c, const WorkerRequest& request, std::size_t number) const;

  const RunSetup& setup_;
  std::filesystem::path temp_folder_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
};

}  // namespace paceline::run
