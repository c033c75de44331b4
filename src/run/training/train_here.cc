// SPDX-License-Identifier: MIT
#include "run/training/train_here.h"

#include "config/training_effects.h"
#include "host/affinity.h"
#include "host/gpu_locality.h"
#include "host/memory.h"
#include "run/ranks/launch.h"
#include "run/training/rank_memory.h"
#include "run/training/train_factory.h"

namespace paceline::run {
namespace {

EngineHome trainer_home(const EngineDirectory& engines, const std::string& device) {
  return home_here(engines, plugin::Role::kTrainer, device.substr(0, device.find(':')), device);
}

// What device: auto means here.
std::string auto_device(const EngineDirectory& engines) {
  return trainer_home(engines, "cuda").file.empty() ? "cpu" : "cuda";
}

// Ranks on CUDA devices hold their state there.
MemoryVerdict memory_of(const config::Case& c, const std::string& device, int hosts) {
  if (device != "cpu") return {};
  const std::int64_t ranks = (c.settings.integer("ranks") + hosts - 1) / hosts;
  return judge_memory(c, ranks, host::read_memory(host::SystemFiles{}));
}

// First reason why the ranks cannot run here; empty: they can.
std::string obstacle(const config::Case& c, const pass::PassSpec& pass, const EngineHome& home,
                     const Launch* launch) {
  const auto& ranks = pass.ranks;
  if (!home.unavailable.empty()) return home.unavailable;
  if (ranks.device == "cpu" && ranks.backend == "nccl")
    return "backend 'nccl' connects CUDA devices, and the ranks run on the CPU; use gloo";
  if (ranks.device == "cuda" && !launch)  // a launcher may show every rank other devices
    if (auto few = too_few_devices(pass, host::visible_device_count(host::gpu_places())); !few.empty())
      return few;
  return memory_of(c, ranks.device, launch ? launch->hosts() : 1).refusal;
}

RanksHere ranks_here(const Launch* launch) {
  if (!launch) return {};
  return [launch](std::int64_t ranks) { return launch->ranks_on_our_cpus(ranks); };
}

}  // namespace

TrainHere train_here(const config::Case& c, const std::vector<config::Case>& cases,
                     const EngineDirectory& engines, const Launch* launch) {
  const auto cores = static_cast<int>(host::allowed_cpus().size());
  TrainHere here{train_pass(c, {threads_per_rank(cases, cores, ranks_here(launch)), auto_device(engines),
                                cases.size() == 1}),
                 {}};
  const auto home = trainer_home(engines, here.pass.ranks.device);
  here.pass.plugin_file = home.file.string();
  here.unavailable = obstacle(c, here.pass, home, launch);
  if (c.settings.flag("pin")) here.pass.pin_cpus = host::choose_cpus(here.pass.settings.threads);
  return here;
}

void tell_training_remarks(const config::Plan& plan, const std::vector<config::Case>& cases,
                           const EngineDirectory& engines, int hosts, RunObserver& observer) {
  const auto device = auto_device(engines);
  for (const auto& words : config::without_effect(plan, cases, device))
    observer.warning("no effect here: " + words);
  for (const auto& c : cases) {
    if (c.kind != config::WorkloadKind::kTraining || !c.not_available.empty()) continue;
    const auto where = train_device(c, {1, device});
    if (const auto words = memory_of(c, where, hosts).warning; !words.empty()) observer.warning(words);
  }
}

}  // namespace paceline::run
