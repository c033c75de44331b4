// SPDX-License-Identifier: MIT
#include "run/training/train_here.h"

#include "config/idle_options.h"
#include "host/affinity.h"
#include "host/memory.h"
#include "run/ranks/launch.h"
#include "run/training/rank_memory.h"
#include "run/training/train_factory.h"

namespace paceline::run {
namespace {

// Ranks on CUDA devices hold their state there.
MemoryVerdict memory_of(const config::Case& c, const std::string& device, int hosts) {
  if (device != "cpu") return {};
  const std::int64_t ranks = (c.settings.integer("ranks") + hosts - 1) / hosts;
  return judge_memory(c, ranks, host::read_memory(host::SystemFiles{}));
}

}  // namespace

RankHome training_home(const config::Case& c, const EngineDirectory& engines) {
  return find_rank_home(c, engines, plugin::Role::kTrainer,
                        [](const pass::RankSpec& ranks) { return ranks.device; });
}

TrainHere train_here(const config::Case& c, const std::vector<config::Case>& cases,
                     const EngineDirectory& engines, const Launch* launch) {
  const auto cores = static_cast<int>(host::allowed_cpus().size());
  const auto home = training_home(c, engines);
  TrainHere here{
      train_pass(c, {threads_per_rank(cases, cores, ranks_of(launch)), home.ranks.device, cases.size() == 1}),
      {}};
  here.pass.plugin_file = home.plugin.file.string();
  here.unavailable = rank_obstacle(here.pass, home.plugin, launch);
  if (here.unavailable.empty())
    here.unavailable = memory_of(c, here.pass.ranks.device, launch ? launch->hosts() : 1).refusal;
  if (c.settings.flag("pin")) here.pass.pin_cpus = host::choose_cpus(here.pass.settings.threads);
  return here;
}

void tell_training_remarks(const config::Plan& plan, const std::vector<config::Case>& cases,
                           const EngineDirectory& engines, int hosts, RunObserver& observer) {
  const auto device =
      home_here(engines, plugin::Role::kTrainer, "cuda", "cuda").file.empty() ? "cpu" : "cuda";
  for (const auto& words : config::without_effect(plan, cases, config::WorkloadKind::kTraining, device))
    observer.warning("no effect here: " + words);
  for (const auto& c : cases) {
    if (c.kind != config::WorkloadKind::kTraining || !c.not_available.empty()) continue;
    const auto where = rank_device(c, device);
    if (const auto words = memory_of(c, where, hosts).warning; !words.empty()) observer.warning(words);
  }
}

}  // namespace paceline::run
