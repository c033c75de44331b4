// SPDX-License-Identifier: MIT
// Parts of cases in stored runs. `missing` says why a case has none; damaged files throw Error(kData).
#pragma once
#include "analysis/difference/timed_parts.h"
#include "result/run_directory.h"

namespace paceline::analysis::difference {

// Layers of inference from layers.csv, parts of a training step from the step file, sizes of a sweep of
// collectives from the times of its operations.
TimedParts stored_parts(const result::StoredRun& stored, const result::CaseResult& one);

// All-reduces of a training step by size, hidden by backward or not, from the step file.
TimedParts stored_exchange_parts(const result::StoredRun& stored, const result::CaseResult& one);

// Operators of the profiled steps of training, or their kernels on a device, from the trace beside the
// result.
TimedParts stored_operator_parts(const result::StoredRun& stored, const result::CaseResult& one);

}  // namespace paceline::analysis::difference
