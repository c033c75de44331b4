// SPDX-License-Identifier: MIT
#include "run/follower.h"

#include "base/file.h"
#include "run/launch.h"
#include "run/pass_factory.h"
#include "run/schedule.h"
#include "run/train_here.h"
#include "run/training_profiles.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;

class Follower {
 public:
  Follower(const RunSetup& setup, RunObserver& observer, const std::atomic<bool>& interrupt)
      : setup_(setup), launch_(*setup.launch), observer_(observer), interrupt_(interrupt) {}

  bool run() {
    const auto slots = launch_order(setup_.cases, setup_.only, launch_.order_seed());
    auto pass = launch_.wait_for(0, interrupt_);
    while (pass) {
      if (*pass < slots.size())
        take_part(*pass, slots[*pass]);
      else if (*pass - slots.size() < setup_.cases.size())
        profile(*pass, setup_.cases[*pass - slots.size()]);
      pass = launch_.wait_for(*pass + 1, interrupt_);
    }
    launch_.finish();
    return all_well_;
  }

 private:
  void take_part(std::size_t pass, const TimedSlot& slot) {
    const auto& definition = setup_.cases[slot.case_index];
    auto spec = train_here(definition, setup_.cases, setup_.engines, &launch_).pass;
    spec.repetition = slot.repetition;
    if (!goes_well(pass, definition, std::move(spec))) all_well_ = false;
  }

  // One that fails costs the profile only.
  void profile(std::size_t pass, const config::Case& definition) {
    auto spec = train_here(definition, setup_.cases, setup_.engines, &launch_).pass;
    static_cast<void>(goes_well(pass, definition, train_profile_pass(definition, std::move(spec), {})));
  }

  bool goes_well(std::size_t pass, const config::Case& definition, workload::PassSpec spec) {
    if (!launch_.takes_part(definition.settings.integer("ranks"))) return true;
    const WorkerRequest request{
        std::move(spec), definition.env, log_of(definition), {}, timeout_of(definition)};
    const auto outcome = launch_.run_pass(pass, request, interrupt_, {});
    if (outcome.ok || interrupt_) return true;
    observer_.warning(definition.label + ": " + outcome.reason);
    return false;
  }

  [[nodiscard]] fs::path log_of(const config::Case& definition) const {
    const auto folder = fs::path(setup_.plan.settings.text("output_dir")) / setup_.plan.experiment_name /
                        launch_.run_name() /
                        (setup_.cases.size() == 1 ? fs::path() : fs::path("cases") / definition.id);
    make_directories(folder);
    return folder / "log.txt";
  }

  const RunSetup& setup_;
  Launch& launch_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
  bool all_well_ = true;
};

}  // namespace

bool follow_plan(const RunSetup& setup, RunObserver& observer, const std::atomic<bool>& interrupt) {
  return Follower(setup, observer, interrupt).run();
}

}  // namespace paceline::run
