// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"

namespace paceline::config {

// Sets Case::baseline_id: the case of the same workload that is equal in every axis but those the baseline
// names.
void set_baselines(const Plan& plan, std::vector<Case>& cases);

// Everything a case asks for that this version does not have, in words; empty when it can run.
std::string not_available_reason(const Case& item);

}  // namespace paceline::config
