// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "analysis/difference/timed_parts.h"
#include "result/stored/case_result.h"
#include "result/stored/layers.h"

namespace paceline::analysis::difference {

// Layers of an inference case, with a time from each profile. The whole is the median latency of each process
// if there are at least six, so that the cost of profiling is unexplained; else the sum of the layers in each
// profile.
TimedParts layer_parts(const result::CaseResult& one, const std::vector<result::LayerRow>& layers);

}  // namespace paceline::analysis::difference
