// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "result/figures/step_account.h"

// In which exchanges a rank is late, and how likely a rank that is no later than the others looks so.
namespace paceline::result {

// With fewer late exchanges no rank is named with certainty.
inline constexpr std::int64_t kFewestLate = 4;

// One rank beside the others, by exchange, in ns.
struct BesideOthers {
  std::vector<double> late;    // own time less the median of the other ranks
  std::vector<double> others;  // that median
};
BesideOthers beside_others(const std::vector<StepAccount>& accounts, std::size_t rank);

// The last rank of each exchange. `late`: its own time less the median of the others; 0 if none was last.
struct LastRanks {
  std::vector<std::optional<std::size_t>> rank;
  std::vector<double> late;
  double clearly = 0;  // divides `late` into two groups
};
LastRanks last_ranks(const std::vector<StepAccount>& accounts);

struct LatePattern {
  std::vector<bool> late;  // by exchange
  std::size_t count = 0, first = 0, last = 0;
  std::size_t every = 0;  // late in each of these many exchanges; 0: in none such
  bool clear = false;     // the late exchanges lie apart from the rest, or from 0
  double chance = 1;      // that any rank shows it if all are alike

  [[nodiscard]] bool always() const { return count == late.size(); }
  [[nodiscard]] bool together() const { return count > 0 && last - first + 1 == count; }
  [[nodiscard]] bool regular() const { return always() || together() || every > 0; }
};

// The pattern of a rank that chance explains least; if it explains all, the first that is clear.
LatePattern late_pattern(const std::vector<StepAccount>& accounts, const LastRanks& last, std::size_t rank);

}  // namespace paceline::result
