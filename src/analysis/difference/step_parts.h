// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "analysis/difference/timed_parts.h"
#include "analysis/traces/rank_trace.h"
#include "result/collective_medians.h"
#include "result/stored/rank_steps.h"

namespace paceline::analysis::difference {

// Parts of each timed step of the typical rank: its own work, waiting for late ranks with the one that is
// last most often, communication. They add up to the step. Throws Error(kData) as result::aligned does.
TimedParts step_parts(const std::vector<result::RankSteps>& ranks);

// All-reduces of each timed step of the typical rank, hidden by backward or not, by size: from the launch or
// the end of the one before to its own end. The whole is their sum.
TimedParts bucket_parts(const std::vector<result::RankSteps>& ranks);

// One operation of each size of a sweep, one time per process: the median of its operations. The whole is
// their sum.
TimedParts size_parts(const result::CaseResult& one, const result::MediansBySize& medians);

// The parts of a step from traces of other programs.
TimedParts trace_step_parts(std::vector<traces::RankTrace> ranks);

// Operators of each step of the rank with the median step time; with a device the kernels of each operator.
// Work on several streams may overlap, so that parts may add up to more than the step.
TimedParts trace_operator_parts(const std::vector<traces::RankTrace>& ranks);

}  // namespace paceline::analysis::difference
