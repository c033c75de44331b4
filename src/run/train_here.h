// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"
#include "run/plugin_choice.h"
#include "workload/pass.h"

namespace paceline::run {

// A training case on this machine: train_pass with plug-in, device, threads and, where ranks are pinned,
// CPUs.
struct TrainHere {
  workload::PassSpec pass;
  std::string unavailable;  // reason and fix; empty: it can run
};

// `cases`: of the whole run, so that threads stay the same over a sweep. `hosts`: that the ranks are spread
// over.
TrainHere train_here(const config::Case& c, const std::vector<config::Case>& cases,
                     const EngineDirectory& engines, int hosts = 1);

}  // namespace paceline::run
