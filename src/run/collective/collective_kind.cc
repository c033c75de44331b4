// SPDX-License-Identifier: MIT
#include "run/collective/collective_kind.h"

#include "base/device.h"
#include "host/machine/cpu_choice.h"
#include "result/stored/benchmark_params.h"
#include "run/case/case_run.h"
#include "run/collective/collective_factory.h"
#include "run/collective/collective_results.h"
#include "run/collective/sweep_here.h"
#include "run/ranks/launch.h"
#include "run/ranks/rank_home.h"

namespace paceline::run {
namespace {

// The name of the first GPU here.
std::string gpu_of(const nlohmann::json& environment) {
  const auto name = environment.value("/nvidia/gpus/0/name"_json_pointer, nlohmann::json());
  return name.is_string() ? name.get<std::string>() : std::string();
}

class CollectiveInRun : public KindInRun {
 public:
  explicit CollectiveInRun(const KindTools& tools) : tools_(tools) {}

  void open(CaseRun& c) override {
    const auto home = collective_rules().rank_home(c.definition, tools_.setup.engines);
    c.base = pass_of(c.definition, home);
    result::set_device(c.result.benchmark, home.ranks.device);
    if (is_cuda(home.ranks.device) && tools_.setup.environment.is_object())
      c.gpu = gpu_of(tools_.setup.environment);
    if (auto problem = rank_obstacle(c.base, home.plugin, tools_.setup.launch); !problem.empty())
      return end_case(c, "unavailable", problem);
    if (auto refusal = judge_sweep_here(c.definition, home.ranks.device, hosts()).refusal; !refusal.empty())
      end_case(c, "config", refusal);
  }

  [[nodiscard]] std::optional<pass::PassSpec> pass_of_ranks(const config::Case& c,
                                                            bool extra) const override {
    if (extra) return std::nullopt;
    return pass_of(c, collective_rules().rank_home(c, tools_.setup.engines));
  }

 private:
  [[nodiscard]] int hosts() const { return tools_.setup.launch ? tools_.setup.launch->hosts() : 1; }
  [[nodiscard]] pass::PassSpec pass_of(const config::Case& c, const RankHome& home) const {
    const auto& setup = tools_.setup;
    const auto cores = static_cast<int>(host::allowed_cpus().size());
    auto pass =
        collective_pass(c, home.ranks.device, threads_per_rank(setup.cases, cores, ranks_of(setup.launch)));
    for (const auto role : {plugin::Role::kBackend, plugin::Role::kCommunicator})
      pass.use(role, pass.ranks.backend, home.plugin.file.string());
    if (c.settings.flag("pin")) pass.pin_cpus = host::choose_cpus(pass.settings.threads);
    return pass;
  }

  KindTools tools_;
};

}  // namespace

std::unique_ptr<KindInRun> make_collective(const KindTools& tools) {
  return std::make_unique<CollectiveInRun>(tools);
}

}  // namespace paceline::run
