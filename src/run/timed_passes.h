// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "run/case/case_run.h"
#include "run/case/observer.h"
#include "run/case/pass_runner.h"
#include "run/case/result_keeper.h"
#include "run/case/run_setup.h"
#include "run/schedule.h"

namespace paceline::run {

// The timed passes of all cases, as their schedule asks for them; what a pass has brought is kept before the
// next begins.
class TimedPasses {
 public:
  // Steps of a case on its way here.
  struct Arrival {
    std::function<void(config::Case)> add;  // to the cases of the run
    std::function<void(CaseRun&)> prepare;
  };
  // Everything outlives this.
  TimedPasses(const RunSetup& setup, const PassRunner& runner, ResultKeeper& keeper, RunObserver& observer,
              const std::atomic<bool>& interrupt, Arrival arrival)
      : setup_(setup),
        runner_(runner),
        keeper_(keeper),
        observer_(observer),
        interrupt_(interrupt),
        arrival_(std::move(arrival)) {}

  void run(CaseRuns& cases);

 private:
  [[nodiscard]] std::vector<TimedSlot> order(const CaseRuns& cases) const;
  // `before`: passes of earlier schedules of this run.
  void run_all(Schedule& schedule, CaseRuns& cases, std::size_t before);
  // A slot that is to be measured: its prepared case, and what observers hear of it.
  struct Timing {
    CaseRun* c = nullptr;
    std::int64_t repetition = 0;
    PassInfo info{};
    std::string alone{};  // why it does not work in turns with others; empty: it does
  };
  using Timings = std::vector<Timing>;
  // The case of a slot that is to be measured, prepared; null: nothing to do.
  CaseRun* case_for(const TimedSlot& slot, CaseRuns& cases) const;
  void wait_for_quiet(const CaseRun& c, std::int64_t repetition);
  void conclude(const Schedule& schedule, CaseRuns& cases);
  void time_all(Timings timings);  // of one proposal
  void time_one(const Timing& timing);
  void time_in_turns(Timings timings);
  void take(const Timing& timing, process::WorkerOutcome outcome);
  // `alone`: why it does not work in turns; empty: it is to.
  static pass::PassSpec timed_pass(const CaseRun& c, std::int64_t repetition, const std::string& alone);
  void check_now(CaseRun& c);
  process::WorkerOutcome run_pass(const Timing& timing);
  std::string keep_unfinished(CaseRun& c, std::int64_t repetition, const process::WorkerOutcome& outcome);

  const RunSetup& setup_;
  const PassRunner& runner_;
  ResultKeeper& keeper_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
  const Arrival arrival_;
  int failed_waits_ = 0;          // in a row
  std::int64_t quiet_at_ns_ = 0;  // end of the last pass that had the machine to itself; 0: of none
};

}  // namespace paceline::run
