// SPDX-License-Identifier: MIT
// Finds what a plan would run as code, before any of it is loaded.
#pragma once
#include <string>
#include <vector>

#include "config/diagnostic.h"
#include "config/plan_text.h"

namespace paceline::config {

struct PlannedCode {
  std::string key;  // the option's own name, or "env.NAME"
  std::string value;
  Place place;
};

// Plug-ins, libraries, programs, model files that are programs, and variables that can load code. Empty where
// the plan cannot be parsed, which load_plan_text reports.
std::vector<PlannedCode> code_in_plan(const PlanText& plan);

}  // namespace paceline::config
