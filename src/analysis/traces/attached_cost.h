// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "analysis/traces/attached_job.h"
#include "analysis/traces/attached_rounds.h"

// Cost of watching, measured on the job itself: the observer is off in some blocks of steps.
namespace paceline::analysis::traces {

// ln of the median step beside a block without the observer over the median step in it, by such block.
std::vector<double> watching_pairs(const std::vector<Round>& rounds);

// Sets the ratio and its interval from the pairs of all blocks; with a reason where they are too few.
void set_watching(const std::vector<double>& pairs, AttachedStudy& study);

}  // namespace paceline::analysis::traces
