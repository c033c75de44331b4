// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/traces/attached_job.h"
#include "analysis/traces/attached_parts.h"

// Which steps of a job are steady, and what the others are.
namespace paceline::analysis::traces {

// The sort of each step. What more than one step in ten shows is a habit of the job, and steady.
std::vector<StepSort> sorts_of(const std::vector<RoundParts>& rounds, const ScopeRoles& roles);

// The most frequent number of backward passes in a step.
std::int64_t passes_per_step(const std::vector<RoundParts>& rounds);

}  // namespace paceline::analysis::traces
