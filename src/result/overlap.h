// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "result/aligned_steps.h"
#include "result/maybe.h"

namespace paceline::result {

// Of the time in which gradients of a rank's step were being exchanged, the share that lay before its last
// gradient was ready: communication that the backward pass hid, |comm and compute| / |comm|.
// Missing without buckets, and where the end of one was not timed.
Number overlap_ratio(const StepRow& row);

// Median over steps of the mean over ranks; missing with the first reason there is.
Number overlap_ratio(const std::vector<StepAcross>& timed);

}  // namespace paceline::result
