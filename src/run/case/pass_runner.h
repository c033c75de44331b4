// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <vector>

#include "process/pass_executor.h"
#include "run/case/case_run.h"
#include "run/case/observer.h"

namespace paceline::run {

// Every request is made by one of these: of a pass of a case, and of one that belongs to none.
process::WorkerRequest request_for(const config::Case& c, pass::PassSpec pass, std::filesystem::path log);
process::WorkerRequest request_for(pass::PassSpec pass, std::filesystem::path log);

// Turns a pass of a case into a request, and tells the observer how it goes.
class PassRunner {
 public:
  // Everything outlives this. `temp_folder`: where workers unpack things.
  PassRunner(process::PassExecutor& executor, std::filesystem::path temp_folder, RunObserver& observer,
             const std::atomic<bool>& interrupt)
      : executor_(executor),
        temp_folder_(std::move(temp_folder)),
        observer_(observer),
        interrupt_(interrupt) {}

  process::WorkerOutcome run(const CaseRun& c, const pass::PassSpec& pass) const;
  // Its records are kept for --resume. `check` is called once a timed pass waits for its check; it may run
  // other passes.
  process::WorkerOutcome run_kept(const CaseRun& c, const pass::PassSpec& pass,
                                  const std::function<void()>& check = {}) const;
  // Timed passes of cases that are compared, in turns where they can be. Outcomes are in their order.
  struct CasePass {
    const CaseRun* c = nullptr;
    pass::PassSpec pass;
  };
  [[nodiscard]] std::vector<process::WorkerOutcome> run_in_turns(const std::vector<CasePass>& passes) const;
  // As run(); the observer hears when the pass begins and ends, under a name for people (empty: its own).
  process::WorkerOutcome run_announced(const CaseRun& c, const pass::PassSpec& pass,
                                       const std::string& name = {}) const;
  // Its records are kept in a file of the caller's.
  process::WorkerOutcome run_recorded(const CaseRun& c, const pass::PassSpec& pass,
                                      const std::filesystem::path& records, bool announced) const;

 private:
  process::WorkerOutcome announce(const CaseRun& c, const process::WorkerRequest& request,
                                  const std::string& name) const;
  [[nodiscard]] process::WorkerRequest request_of(const CaseRun& c, const pass::PassSpec& pass) const;
  // As request_of(); its records are kept for --resume.
  [[nodiscard]] process::WorkerRequest kept_request_of(const CaseRun& c, const pass::PassSpec& pass) const;
  [[nodiscard]] process::WorkerOutcome start(const CaseRun& c, const process::WorkerRequest& request,
                                             const std::function<void()>& check = {}) const;
  void report_part(const CaseRun& c, const pass::PassReport& report) const;

  process::PassExecutor& executor_;
  std::filesystem::path temp_folder_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
};

}  // namespace paceline::run
