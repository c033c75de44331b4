// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "config/plan.h"
#include "run/case/plugin_choice.h"

namespace paceline::run {

// Has the pass of a case run its samplers, with their options. Returns why one of them cannot be loaded here;
// empty: all can. The pass has it nevertheless, since ranks on other hosts may, and all tell of it together.
std::string use_samplers(const config::Case& c, const EngineDirectory& plugins, pass::PassSpec& pass);

// Has a case that runs on NVIDIA GPUs watched by sampler nvml, where a plug-in brings it and the case names
// no sampler.
void watch_gpus(config::Case& c, const EngineDirectory& plugins);

}  // namespace paceline::run
