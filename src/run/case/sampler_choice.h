// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "config/plan.h"
#include "run/case/plugin_choice.h"

namespace paceline::run {

// Has the pass of a case run its samplers, with their options. Returns why one of them cannot be loaded here;
// empty: all can. The pass has it nevertheless, since ranks on other hosts may, and all report it together.
std::string use_samplers(const config::Case& c, const EngineDirectory& plugins, pass::PassSpec& pass);

// Has a case that names no sampler watched by those that plug-ins bring for what it runs on: nvml where it
// runs on NVIDIA GPUs, rapl where the energy counters of the CPUs can be read.
struct Meters {
  bool gpus = false, cpus = false;
};
void watch(config::Case& c, const EngineDirectory& plugins, Meters meters);

}  // namespace paceline::run
