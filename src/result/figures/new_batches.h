// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "result/stored/case_result.h"

namespace paceline::result {

// Batches that the loaded model had not seen: medians over the repetitions that have a time, in the order of
// the first one.
std::vector<NewBatch> new_batches(const CaseResult& one);

}  // namespace paceline::result
