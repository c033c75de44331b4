// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/maybe.h"
#include "result/figures/aligned_steps.h"
#include "result/stored/case_result.h"
#include "result/stored/rank_steps.h"

// Summarizes step tables of all ranks to the figures of a training run (methodology: multi-rank aggregation).
// Pure.
namespace paceline::result {

// Share of a rank's gradient exchange in a step before its last gradient was ready: communication that the
// backward pass hid, |comm and compute| / |comm|. Missing without buckets, and if the end of one was not
// timed.
Number overlap_ratio(const StepRow& row);

// Median over steps of the mean over ranks; where it is missing, with the first reason.
Number overlap_ratio(const std::vector<StepAcross>& timed);

// `training` holds what only a worker knows (backend, launcher, ddp, parameters, sizes of buckets,
// fingerprint, checkpoints); everything that follows from the steps is filled in. samples_per_step is that of
// all ranks. Throws Error(kData) when the tables do not fit together (aligned_steps.h).
void summarize_training(Training& training, const std::vector<RankSteps>& ranks,
                        std::int64_t samples_per_step);

// Combines the repetitions of a case: the last one, with medians of the figures of speed.
std::optional<Training> combined_training(const std::vector<Repetition>& repetitions);

}  // namespace paceline::result
