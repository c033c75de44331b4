// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/plan.h"

// Names options that were asked for and change nothing. An option with its default value never
// counts, so a plan with every default written out stays clean.
namespace paceline::config {

// "training.momentum, training.nesterov (adam and adamw have none); data.path (synthetic data have no
// files)"; empty when everything that was asked for has an effect. `auto_device` is what device: auto means:
// cpu | cuda.
std::string without_effect(const Case& item, std::string_view auto_device);

// One line per workload of the kind, inference or training: the options that change nothing in any of its
// cases.
std::vector<std::string> without_effect(const Plan& plan, std::span<const Case> cases, WorkloadKind kind,
                                        std::string_view auto_device);

}  // namespace paceline::config
