// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"
#include "pass/pass.h"
#include "run/case/observer.h"
#include "run/case/plugin_choice.h"
#include "run/ranks/rank_home.h"
#include "run/training/rank_memory.h"

namespace paceline::run {

// Where the ranks of a training case run, and the plug-in with their trainer.
RankHome training_home(const config::Case& c, const EngineDirectory& engines);

// A training case on this machine: train_pass with plug-in, device, threads and, where ranks are pinned,
// CPUs.
struct TrainHere {
  pass::PassSpec pass;
  std::string unavailable;  // reason and fix; empty: it can run
};

// `cases`: of the whole run, so that threads stay the same over a sweep. `launch`: where others start ranks,
// too; of its processes some may share this one's CPUs.
TrainHere train_here(const config::Case& c, const std::vector<config::Case>& cases,
                     const EngineDirectory& engines, const Launch* launch = nullptr);

// Whether the case's ranks fit into this machine's memory, or on its devices; `hosts`: of the launch.
MemoryVerdict training_memory(const config::Case& c, const std::string& device, int hosts);
// Least memory of its ranks on their devices; empty for the CPU.
std::string training_memory_words(const config::Case& c, const std::string& device);

}  // namespace paceline::run
