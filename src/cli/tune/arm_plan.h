// SPDX-License-Identifier: MIT
// The plan of one arm of a search, and the command that runs the same.
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"

namespace paceline::cli {

inline constexpr const char* kPlanFile = "best.yaml";  // in the folder of the run

bool has_strong_scaling(const config::Case& arm);

// The arm's values of an axis as its plan has them: with strong scaling a plan has the batch of all ranks, a
// case that of one.
std::vector<config::Value> values_in_plan(const config::Case& arm, const config::Option& option,
                                          const std::vector<config::Value>& values);

// The plan of this arm alone, with as many processes as a claim needs.
std::string plan_of_arm(const config::Plan& all, const config::Case& arm);

// The command line with the settings of the arm: those that were typed or chosen, without the number and the
// length of its looks.
std::string command_of_arm(const config::Plan& all, const config::Case& arm);

}  // namespace paceline::cli
