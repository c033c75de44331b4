// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/traces/attached_scopes.h"
#include "analysis/traces/intervals.h"
#include "attach/step_file.h"

// Finds the steps in a step file: from one optimizer step to the next, or from one round of all optimizers.
namespace paceline::analysis::traces {

struct Round {
  std::int64_t number = 0;  // counted from 0 since the job began; equal on all ranks
  Interval span;
  bool watched = true;  // the observer was on in all of it
  bool traced = false;  // PyTorch's profiler ran in it for --trace
};

// Event that ends a step.
enum class RoundEnd : std::uint8_t { kOptimizer, kCollectives, kLoader };

struct Rounds {
  std::vector<Round> all;  // in order
  RoundEnd end = RoundEnd::kOptimizer;
  std::int64_t optimizer_steps = 1;  // in each
  // Optimizer steps before the first round and behind the last one, such as those of another phase of the
  // job.
  std::int64_t steps_before = 0, steps_behind = 0;
  std::uint16_t thread = 0;  // that trains
};

// Throws Error(kData) when nothing in the file tells steps apart.
Rounds rounds_of(const attach::StepFile& file, const ScopeRoles& roles);

// Smallest period, at most `most`, with which nearly all of the first `looked_at` values recur; 0: there is
// none.
std::size_t period_of(const std::vector<std::uint64_t>& values, std::size_t most, std::size_t looked_at);

}  // namespace paceline::analysis::traces
