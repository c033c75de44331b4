// SPDX-License-Identifier: MIT
#include "run/follower.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "result/run_directory.h"
#include "run/case/sampler_choice.h"
#include "run/kinds.h"
#include "run/ranks/launch.h"

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
    bool all_well = true;
    for (auto pass = launch_.wait_for(0, interrupt_); pass;
         pass = launch_.wait_for(pass->number + 1, interrupt_)) {
      const bool well = goes_well(*pass);
      all_well &= well || !pass->timed;  // an extra one that fails costs what it was for
    }
    launch_.finish();
    return all_well;
  }

 private:
  bool goes_well(const LaunchedPass& pass) {
    const auto& definition = case_named(pass.case_id);
    auto spec = kinds_.of(definition).pass_of_ranks(definition, !pass.timed);
    if (!spec || !launch_.takes_part(spec->world_size)) return true;
    spec->repetition = pass.repetition;
    if (const auto no_sampler = use_samplers(definition, setup_.engines, *spec); !no_sampler.empty())
      observer_.warning(definition.label + ": " + no_sampler);
    auto request = request_for(definition, std::move(*spec), log_of(definition));
    request.number = pass.number;
    const auto outcome = launch_.run_pass(executor_, request, interrupt_, {});
    if (outcome.ok || interrupt_) return true;
    observer_.warning(definition.label + ": " + outcome.reason);
    return false;
  }

  // All processes have the same plan.
  [[nodiscard]] const config::Case& case_named(const std::string& id) const {
    const auto& cases = setup_.cases;
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const auto& c) { return c.id == id; });
    if (found == cases.end())
      throw Error(ErrorCode::kInternal, fmt::format("rank 0 runs case '{}', which is not in this plan", id));
    return *found;
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
