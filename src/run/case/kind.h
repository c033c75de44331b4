// SPDX-License-Identifier: MIT
// The part that a kind of workload has in a run: whoever runs a plan asks the kind of a case, and never which
// it is.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/plan.h"
#include "pass/pass.h"
#include "run/case/case_run.h"
#include "run/case/observer.h"
#include "run/case/pass_runner.h"
#include "run/case/run_setup.h"

namespace paceline::run {

// Tools that a run lends to its kinds. They outlive the kinds.
struct KindTools {
  const RunSetup& setup;
  const PassRunner& runner;
  RunObserver& observer;
  const std::atomic<bool>& interrupt;
  std::filesystem::path run_dir;
  std::filesystem::path scratch;       // files that passes share; it goes with the run
  std::filesystem::path temp_folder;   // where workers unpack things; it goes with the run
  std::function<void(CaseRun&)> keep;  // writes what has changed
};

// The part that a kind has in one run; it may keep what its cases share.
class KindInRun {
 public:
  virtual ~KindInRun() = default;

  // Chooses plug-in, device, threads and CPUs of a case; ends a case that cannot run here.
  virtual void open(CaseRun& c) = 0;
  // Makes files and checks that come before the timed passes. The case may end.
  virtual void prepare(CaseRun&) {}
  // Takes over the check of an earlier run.
  virtual void restore_check(CaseRun&, const pass::PassReport&) {}
  // Runs what follows the timed passes of all cases. `cases` holds those of this kind.
  virtual void finish(const std::vector<CaseRun*>&) {}
  // Compares cases of this kind with each other, beyond their baselines.
  virtual void compare(const std::vector<CaseRun*>&, const std::vector<std::string>& /*resumed_utc*/) {}
  // The pass that every process of a launch starts ranks for: the timed one, or the extra one after all of
  // them.
  [[nodiscard]] virtual std::optional<pass::PassSpec> pass_of_ranks(const config::Case&,
                                                                    bool /*extra*/) const {
    return std::nullopt;
  }
};

}  // namespace paceline::run
