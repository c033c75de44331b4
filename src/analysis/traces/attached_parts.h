// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/traces/attached_rounds.h"
#include "analysis/traces/rank_trace.h"
#include "analysis/traces/step_parts.h"

// Contents of each step of a step file.
namespace paceline::analysis::traces {

struct RoundParts {
  Round round;
  StepParts parts;
  Intervals computing;                                // of the host
  std::int64_t loads = 0, passes = 0, backwards = 0;  // batches, forward passes, backward calls
  std::int64_t idle_passes = 0;                       // forward passes without a backward one
  std::int64_t compiling_ns = 0;
  std::int64_t forward_ns = 0;
  std::int64_t pause_ns = 0;  // longest time in which nothing is seen, before a batch is asked for
  [[nodiscard]] std::int64_t length() const { return round.span.end - round.span.begin; }
};

struct RankRounds {
  std::vector<RoundParts> all;  // those of `rounds` that were watched
  bool has_loader = false, has_forward = false, has_backward = false, has_optimizer = false;
  Communication communication = Communication::kNone;
};

RankRounds parts_of_rounds(const attach::StepFile& file, const ScopeRoles& roles, const Rounds& rounds);

}  // namespace paceline::analysis::traces
