// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/plan.h"

// Options of training that were asked for and change nothing. One with its default value never counts: a plan
// with every default written out stays a plan.
namespace paceline::config {

// "training.momentum, training.nesterov (adamw has none); data.path (synthetic data have no files)"; empty:
// everything that was asked for has an effect. `auto_device`: cpu | cuda, what device: auto means.
std::string without_effect(const Case& item, std::string_view auto_device);

// Of a plan, a line a workload: what changes nothing in any of its cases.
std::vector<std::string> without_effect(const Plan& plan, std::span<const Case> cases,
                                        std::string_view auto_device);

}  // namespace paceline::config
