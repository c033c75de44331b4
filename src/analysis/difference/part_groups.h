// SPDX-License-Identifier: MIT
// Groups of aligned parts with their means, names and causes.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/difference/alignment.h"
#include "analysis/difference/change.h"
#include "analysis/difference/mean_difference.h"

namespace paceline::analysis::difference {

// Parts that are the same work on both sides, or adjacent ones that only one side has.
struct PartGroup {
  std::vector<const TimedPart*> a{}, b{};
  std::string repeats{};  // words for parts that it repeats; empty: none
  MeanDifference difference{};
  Mean from{}, to{};

  [[nodiscard]] bool is_pair() const { return !a.empty() && !b.empty(); }
};

// Only of parts with times. Together they hold each of those once.
std::vector<PartGroup> groups_of(const TimedParts& a, const TimedParts& b);

std::vector<std::span<const double>> times_of(const std::vector<const TimedPart*>& parts);
std::string name_of(const PartGroup& group);
Change change_of(const PartGroup& group);
std::string cause_of(const PartGroup& group);

}  // namespace paceline::analysis::difference
