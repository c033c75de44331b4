// SPDX-License-Identifier: MIT
// Sets accuracy limits by the precision that ran, where a file's own precision is asked for.
#pragma once
#include <string>

#include "pass/pass.h"
#include "result/case_result.h"

namespace paceline::workload {

// The precision with the largest share of the work; empty where the engine cannot tell.
std::string dominant_precision(const result::PrecisionReadBack& read_back);

// Applies the row of `spec.limits` for that precision; changes nothing where there is no such row.
void use_limits(pass::PassSpec& spec, const std::string& precision);

}  // namespace paceline::workload
