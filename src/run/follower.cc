// SPDX-License-Identifier: MIT
#include "run/follower.h"

#include "result/run_directory.h"
#include "run/kinds.h"
#include "run/ranks/launch.h"
#include "run/schedule.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;

class Follower {
 public:
  Follower(const RunSetup& setup, RunObserver& observer, const std::atomic<bool>& interrupt,
           process::PassExecutor& executor)
      : setup_(setup),
        launch_(*setup.launch),
        observer_(observer),
        interrupt_(interrupt),
        executor_(executor),
        runner_(executor, {}, observer, interrupt),
        kinds_({setup, runner_, observer, interrupt, {}, {}, {}, {}}) {}

  bool run() {
    const auto slots = launch_order(setup_.cases, setup_.only, launch_.order_seed());
    bool all_well = true;
    auto pass = launch_.wait_for(0, interrupt_);
    while (pass) {
      if (*pass < slots.size())
        all_well &= goes_well(*pass, setup_.cases[slots[*pass].case_index], false, slots[*pass].repetition);
      else if (*pass - slots.size() < setup_.cases.size())  // one that fails costs what it was for
        static_cast<void>(goes_well(*pass, setup_.cases[*pass - slots.size()], /*extra=*/true, 0));
      pass = launch_.wait_for(*pass + 1, interrupt_);
    }
    launch_.finish();
    return all_well;
  }

 private:
  bool goes_well(std::size_t pass, const config::Case& definition, bool extra, std::int64_t repetition) {
    auto spec = kinds_.of(definition).pass_of_ranks(definition, extra);
    if (!spec || !launch_.takes_part(spec->world_size)) return true;
    spec->repetition = repetition;
    const auto request = request_for(definition, std::move(*spec), log_of(definition), pass);
    const auto outcome = launch_.run_pass(executor_, request, interrupt_, {});
    if (outcome.ok || interrupt_) return true;
    observer_.warning(definition.label + ": " + outcome.reason);
    return false;
  }

  [[nodiscard]] fs::path log_of(const config::Case& definition) const {
    const auto run =
        fs::path(setup_.plan.settings.text("output_dir")) / setup_.plan.experiment_name / launch_.run_name();
    const auto below = setup_.cases.size() == 1 ? fs::path() : fs::path("cases") / definition.id;
    return result::make_run_folder(run, below) / "log.txt";
  }

  const RunSetup& setup_;
  Launch& launch_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
  process::PassExecutor& executor_;
  PassRunner runner_;
  Kinds kinds_;
};

}  // namespace

bool follow_plan(const RunSetup& setup, RunObserver& observer, const std::atomic<bool>& interrupt,
                 process::PassExecutor& executor) {
  return Follower(setup, observer, interrupt, executor).run();
}

}  // namespace paceline::run
