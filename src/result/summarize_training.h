// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "result/case_result.h"
#include "result/rank_steps.h"
#include "result/samples.h"

// Step tables of all ranks to the figures of a training run (methodology: multi-rank aggregation). Pure.
namespace paceline::result {

// The timed steps: a sample is the largest step time over the ranks, its rank the one that took it, its start
// that of the lowest rank. Throws Error(kData) when a rank lacks a step, twice has one, or ranks disagree
// about its phase.
std::vector<Sample> step_samples(const std::vector<RankSteps>& ranks, std::int32_t repetition);

// What only a worker knows (backend, launcher, ddp, parameters, buckets' sizes, fingerprint, checkpoints)
// stands in `training`; everything that follows from the steps is filled in. samples_per_step: of all ranks.
// Throws as step_samples does.
void summarize_training(Training& training, std::vector<RankSteps> ranks, std::int64_t samples_per_step);

// Over the repetitions of a case: the last one's, with medians of the figures of speed.
std::vector<Training> combined_training(const std::vector<Repetition>& repetitions);

// Sets `scaling` of every measured training case that differs from another of fewer ranks in nothing else;
// the base is the one with the fewest.
void compare_scaling(const std::vector<CaseResult*>& cases);

}  // namespace paceline::result
