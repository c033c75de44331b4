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
// each process stayed in one state, else readings of samplers, of which a stretch in one state counts once. A
// quantity is a sign if 90 % of the pairs of a fast and a slow reading are ordered, if the Mann-Whitney test
// says so at 95 % over all quantities, and if it differs by a size that matters. None where the times have
// one mode.
std::optional<TwoStates> two_states(const CaseResult& one, const std::vector<Sample>& samples,
                                    const std::vector<SampledWindow>& windows);

}  // namespace paceline::result
