// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "config/flag_set.h"
#include "config/plan.h"
#include "run/device_choice.h"

namespace paceline::cli {

// Throws Error(kUsage), naming the flag as typed or the key of the plan, where a case asks for more GPUs than
// there are, or for one that is not there.
void check_gpus(const config::Plan& plan, const std::vector<config::Case>& cases,
                const config::FlagSet& flags, const run::GpusHere& here);

}  // namespace paceline::cli
