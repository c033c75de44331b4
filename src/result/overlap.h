// SPDX-License-Identifier: MIT
// Computes how much of the exchange of gradients the backward pass hid.
#pragma once
#include <vector>

#include "result/aligned_steps.h"
#include "result/maybe.h"

namespace paceline::result {

// Of the time in which a rank exchanged gradients in a step, the share before its last gradient was ready:
// communication that the backward pass hid, |comm and compute| / |comm|. Missing without buckets, and where
// the end of one was not timed.
Number overlap_ratio(const StepRow& row);

// Median over steps of the mean over ranks; where it is missing, with the first reason.
Number overlap_ratio(const std::vector<StepAcross>& timed);

}  // namespace paceline::result
