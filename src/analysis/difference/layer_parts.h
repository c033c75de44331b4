// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "analysis/difference/timed_parts.h"
#include "result/run_directory.h"
#include "result/stored/layers.h"

namespace paceline::analysis::difference {

// Layers of an inference case, with a time from each profile. The whole is the mean latency of each process
// if there are at least six, so that the cost of profiling is unexplained; else the sum of the layers in each
// profile.
TimedParts layer_parts(const result::CaseResult& one, const std::vector<result::LayerRow>& layers);

// Parts of a stored case: layers of inference from layers.csv, parts of a training step from the step file.
// `missing` says why there are none. Throws Error(kData) for damaged files.
TimedParts stored_parts(const result::StoredRun& stored, const result::CaseResult& one);

}  // namespace paceline::analysis::difference
