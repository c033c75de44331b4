// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "result/stored/case_result.h"

namespace paceline::result {

// Shapes that the loaded model had not seen: medians over the repetitions that have a time, in the order of
// the first one.
std::vector<NewShape> new_shapes(const CaseResult& one);

}  // namespace paceline::result
