// SPDX-License-Identifier: MIT
#include "run/ranks/rank_home.h"

#include <fmt/format.h>

#include "base/device.h"
#include "cluster/launch_words.h"
#include "host/machine/gpu_locality.h"
#include "run/ranks/launch.h"

namespace paceline::run {

RankHome find_rank_home(const config::Case& c, const EngineDirectory& engines, plugin::Role role,
                        CapabilityOf name) {
  const auto on = [&](const std::string& device) {
    const auto ranks = rank_spec(c, device);
    return RankHome{ranks, home_here(engines, role, name(ranks), device), {}};
  };
  if (const auto asked = rank_device(c, ""); !asked.empty()) return on(asked);
  auto cuda = on("cuda");
  if (!cuda.plugin.file.empty() && c.gpu_refusal.empty()) return cuda;
  auto cpu = on("cpu");
  cpu.no_cuda = cuda.plugin.file.empty() ? cuda.plugin.unavailable : c.gpu_refusal;
  return cpu;
}

RanksHere ranks_of(const Launch* launch) {
  if (!launch) return {};
  return [launch](std::int64_t ranks) { return launch->ranks_on_our_cpus(ranks); };
}

std::string rank_obstacle(const pass::PassSpec& pass, const EngineHome& plugin, const Launch* launch) {
  const auto& ranks = pass.ranks;
  if (is_cpu(ranks.device) && ranks.backend == "nccl")
    return "backend 'nccl' connects CUDA devices, and the ranks run on the CPU; use gloo";
  if (!plugin.unavailable.empty()) return plugin.unavailable;
  if (launch && pass.world_size > launch->place().world)
    return fmt::format("{} ranks are asked for, and {}", pass.world_size,
                       cluster::started_words(launch->place()));
  if (launch) return {};  // a launcher may show every rank other devices
  return too_few_devices(pass, host::visible_device_count(host::gpu_places()));
}

}  // namespace paceline::run
