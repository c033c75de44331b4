// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "result/case_result.h"
#include "workload/pass.h"

// Limits follow the precision that ran, where a file's own precision is asked for.
namespace paceline::workload {

// The one with the largest share of the work; empty where the engine cannot tell.
std::string dominant_precision(const result::PrecisionReadBack& read_back);

// Puts the row of `spec.limits` for that precision in force; without one nothing changes.
void use_limits(PassSpec& spec, const std::string& precision);

}  // namespace paceline::workload
