// SPDX-License-Identifier: MIT
// Finds the baseline of a case, and why a case is not available.
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"

namespace paceline::config {

// Sets Case::baseline_id: the case of the same workload that is equal in all axes but those of the baseline.
void set_baselines(const Plan& plan, std::vector<Case>& cases);

// Everything that a case asks for and this version does not have, in words; empty when it can run.
std::string not_available_reason(const Case& item);

// Whether a later version may run it; false: the options do not go together, or not on this device.
bool waits_for_a_version(const Case& item);

}  // namespace paceline::config
