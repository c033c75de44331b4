// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <vector>

#include "result/stored/case_result.h"
#include "result/stored/sampled.h"
#include "result/stored/samples.h"

namespace paceline::result {

// Splits the samples of a case between its two most frequent modes at the geometric mean of their medians,
// and looks for quantities that were in two states at the same times: the noise figures of processes where
// each process stayed in one state, else readings of samplers, each with the state of the sample that it fell
// into. A quantity is a sign if (nearly) every reading in one state is above every reading in the other
// (share of ordered pairs, the Mann-Whitney statistic, at least 0.9), with enough readings that chance does
// so in at most 1 of 20 cases, and if it differs by a size that matters. None where the times have one mode.
std::optional<TwoStates> two_states(const CaseResult& one, const std::vector<Sample>& samples,
                                    const std::vector<SampledWindow>& windows);

}  // namespace paceline::result
