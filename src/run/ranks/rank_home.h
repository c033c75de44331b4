// SPDX-License-Identifier: MIT
// Where the ranks of a case run on this machine, and which plug-in they load.
#pragma once
#include <string>

#include "config/plan.h"
#include "pass/pass.h"
#include "run/case/plugin_choice.h"
#include "run/ranks/rank_settings.h"

namespace paceline::run {

class Launch;

// The name that a plug-in's capability has for ranks of these settings.
using CapabilityOf = std::string (*)(const pass::RankSpec& ranks);
// With device: auto, ranks are on CUDA devices where this machine has one and a plug-in that can use it.
RankHome find_rank_home(const config::Case& c, const EngineDirectory& engines, plugin::Role role,
                        CapabilityOf name);

// Counts for threads_per_rank; `launch` may be null.
RanksHere ranks_of(const Launch* launch);

// First reason why the ranks cannot run here; empty: they can.
std::string rank_obstacle(const pass::PassSpec& pass, const EngineHome& plugin, const Launch* launch);

}  // namespace paceline::run
