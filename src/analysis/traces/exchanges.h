// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traces/rank_trace.h"

// Which exchanges of the ranks are one, and who waits in them. No common clock is needed: an exchange that
// ends on all ranks together is the point from which each rank's next one is timed.
namespace paceline::analysis::traces {

// One step, by rank.
struct StepWaits {
  // Share of the exposed communication since the previous exchange that is waiting for other ranks.
  std::vector<std::int64_t> waited;
  // Index of the last exchange that ends on all ranks together; none: the ranks are not level in this step.
  std::optional<std::vector<std::size_t>> level;
};

struct Waits {
  std::vector<StepWaits> steps;  // as those of the ranks
  // Steps in which ranks have different exchanges, the first of them in words.
  std::int64_t unmatched = 0;
  std::string unmatched_words;
};

// Why the exchanges of the step at this place differ between the ranks; empty: they do not.
std::string mismatch_at(const std::vector<RankTrace>& ranks, std::size_t at);

// The ranks have the same steps. An exchange of the same kind and ranks is the same by its place among them.
Waits waits_of(const std::vector<RankTrace>& ranks);

}  // namespace paceline::analysis::traces
