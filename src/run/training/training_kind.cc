// SPDX-License-Identifier: MIT
#include "run/training/training_kind.h"

#include <fmt/format.h>

#include "result/judged/training_scaling.h"
#include "result/stored/benchmark_params.h"
#include "run/case/gpu_peaks.h"
#include "run/ranks/launch.h"
#include "run/training/train_here.h"
#include "run/training/training_profiles.h"
#include "run/training/training_results.h"

namespace paceline::run {
namespace {

class TrainingInRun : public KindInRun {
 public:
  explicit TrainingInRun(const KindTools& tools) : tools_(tools), gpu_peaks_(tools) {}

  void open(CaseRun& c) override {
    const Launch* launch = tools_.setup.launch;
    const auto here = train_here(c.definition, tools_.setup.cases, tools_.setup.engines, launch);
    c.base = here.pass;
    result::set_device(c.result.benchmark, c.base.ranks.device);
    if (!here.unavailable.empty()) return end_case(c, "unavailable", here.unavailable);
    gpu_peaks_.fill(c);
  }

  void finish(const std::vector<CaseRun*>& cases) override {
    for (auto* c : cases) {
      if (tools_.interrupt) return;
      if (!is_profile_due(*c)) continue;
      profile(*c);
      tools_.keep(*c);
    }
    gpu_peaks_.conclude(cases);
  }

  void compare(const std::vector<CaseRun*>& cases, const std::vector<std::string>& resumed_utc) override {
    std::vector<result::CaseResult*> worlds;
    for (auto* c : cases)
      if (!c->result.repetitions.empty()) worlds.push_back(&c->result);
    result::compare_scaling(worlds, resumed_utc);
  }

  [[nodiscard]] std::optional<pass::PassSpec> pass_of_ranks(const config::Case& c,
                                                            bool extra) const override {
    auto spec = train_here(c, tools_.setup.cases, tools_.setup.engines, tools_.setup.launch).pass;
    return extra ? train_profile_pass(c, std::move(spec), {}) : spec;
  }

 private:
  void profile(CaseRun& c) const {
    auto reason = no_profile_reason(c.definition);
    if (reason.empty()) reason = stall_reason(c.definition, c.result);
    if (!reason.empty()) {
      c.result.operator_profile.emplace().reason = std::move(reason);
      return;
    }
    const auto trace_file = tools_.temp_folder / fmt::format("trace-{}.json", c.definition.id);
    const auto outcome =
        tools_.runner.run_announced(c, train_profile_pass(c.definition, c.base, trace_file), "profile");
    apply_operator_profile(c, outcome, trace_file);
  }

  KindTools tools_;
  GpuPeaks gpu_peaks_;
};

}  // namespace

std::unique_ptr<KindInRun> make_training(const KindTools& tools) {
  return std::make_unique<TrainingInRun>(tools);
}

}  // namespace paceline::run
