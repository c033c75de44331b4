// SPDX-License-Identifier: MIT
// Holds a new run against the last runs of the same cases on the same machine.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/index.h"

namespace paceline::history {

inline constexpr std::int64_t kFewestEarlier = 3, kMostEarlier = 10;

// A value beside earlier ones: its ratio to their mean, and the interval in which the next run would lie at
// 95 % if nothing had changed, moved to that ratio.
struct SinceLast {
  double ratio = 1, low = 1, high = 1;
  std::int64_t runs = 0;
  [[nodiscard]] bool differs() const { return low > 1 || high < 1; }
};
// None below three earlier values, and for values that are not positive.
std::optional<SinceLast> since_last(double value, std::span<const double> earlier);

// Sentences for people, a line each and no verdict: runs at different times differ by drift as well. At most
// three, of the cases that moved most.
std::vector<std::string> since_last_lines(const Index& index, const RunEntry& run);

}  // namespace paceline::history
