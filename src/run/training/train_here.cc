// SPDX-License-Identifier: MIT
#include "run/training/train_here.h"

#include "base/device.h"
#include "host/machine/cpu_choice.h"
#include "host/machine/gpu_locality.h"
#include "host/machine/memory.h"
#include "run/ranks/launch.h"
#include "run/training/train_factory.h"

namespace paceline::run {
namespace {

RankDevices devices_here() {
  const auto places = host::gpu_places();
  RankDevices here{host::visible_device_count(places), Count::missing("not known")};
  for (const auto& gpu : places.driver.gpus)
    if (gpu.memory_bytes && (!here.bytes || *here.bytes < *gpu.memory_bytes)) here.bytes = gpu.memory_bytes;
  return here;
}

std::int64_t ranks_per_host(const config::Case& c, int hosts) {
  return (c.settings.integer("ranks") + hosts - 1) / hosts;
}

}  // namespace

RankHome training_home(const config::Case& c, const EngineDirectory& engines) {
  return find_rank_home(c, engines, plugin::Role::kTrainer,
                        [](const pass::RankSpec& ranks) { return ranks.device; });
}

MemoryVerdict training_memory(const config::Case& c, const std::string& device, int hosts) {
  const auto ranks = ranks_per_host(c, hosts);
  if (!is_cpu(device)) return {device_shortage(c, ranks, devices_here()), {}};
  return judge_memory(c, ranks, host::read_memory(host::SystemFiles{}));
}

std::string training_memory_words(const config::Case& c, const std::string& device) {
  return is_cpu(device) ? std::string() : device_memory_words(c, devices_here());
}

TrainHere train_here(const config::Case& c, const std::vector<config::Case>& cases,
                     const EngineDirectory& engines, const Launch* launch) {
  const auto cores = static_cast<int>(host::allowed_cpus().size());
  const auto home = training_home(c, engines);
  TrainHere here{
      train_pass(c, {threads_per_rank(cases, cores, ranks_of(launch)), home.ranks.device, cases.size() == 1}),
      {}};
  here.pass.use(plugin::Role::kTrainer, home.ranks.device, home.plugin.file.string());
  here.pass.use(plugin::Role::kBackend, here.pass.ranks.backend, home.plugin.file.string());
  here.unavailable = rank_obstacle(here.pass, home.plugin, launch);
  if (here.unavailable.empty())
    here.unavailable = training_memory(c, here.pass.ranks.device, launch ? launch->hosts() : 1).refusal;
  if (c.settings.flag("pin")) here.pass.pin_cpus = host::choose_cpus(here.pass.settings.threads);
  return here;
}

}  // namespace paceline::run
