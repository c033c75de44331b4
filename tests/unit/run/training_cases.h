// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"

namespace paceline::run {

// The cases of a plan for training with these lines.
inline std::vector<config::Case> training_cases(const std::string& lines) {
  return config::expand(config::load_plan_text("kind: training\n" + lines, "test.yaml"));
}
inline config::Case training_case(const std::string& lines) {
  return training_cases(lines).at(0);
}

}  // namespace paceline::run
