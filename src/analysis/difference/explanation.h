// SPDX-License-Identifier: MIT
// Explains the difference between two sides by their parts.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/difference/change.h"
#include "analysis/difference/timed_parts.h"
#include "base/maybe.h"
#include "stats/interval.h"

namespace paceline::analysis::difference {

// Means per iteration or step.
struct DifferenceRow {
  std::string what;       // name of the part; "old → new" where it was renamed
  Number from_ns, to_ns;  // missing where the side does not have the part
  double difference_ns = 0;
  stats::Interval interval;  // Welch's; of single parts at 95 % for all of them together (Bonferroni)
  Number share;              // of the whole difference
  Change change = Change::kSlower;
  std::string cause{};  // in words; empty: not known
};

struct Explanation {
  std::string unit_words;  // "inference", "step"
  std::string no_claim;    // why nothing is explained; empty: the rows do
  Number from_ns, to_ns;   // means of the whole
  double difference_ns = 0;
  std::optional<stats::Interval> interval;  // 95 %, Welch's over iterations or steps
  // Parts whose difference is certain, the largest first, until at least 90 % is explained; then the rest and
  // what no part explains. Differences of all rows add up to difference_ns.
  std::vector<DifferenceRow> rows;
  bool beside_medians = false;  // the figures whose difference is explained are medians
  std::size_t pairs = 0;        // parts or groups of parts that both sides have
  // First row in the direction of the whole difference; null: no single part is certain.
  [[nodiscard]] const DifferenceRow* first_cause() const;
};

// Throws nothing: sides that cannot be explained have `no_claim`.
Explanation explain(const TimedParts& a, const TimedParts& b);

}  // namespace paceline::analysis::difference
