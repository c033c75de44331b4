// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>
#include <vector>

// In which of a series of steps a rank is late: always, from one step on, until one, or in every k-th.
namespace paceline::result {

struct LatePattern {
  std::vector<bool> late;  // by step
  std::size_t count = 0, first = 0, last = 0;
  std::size_t every = 0;  // late in each of these many steps; 0: in none such
  bool clear = false;     // the late steps lie apart from the rest, or from 0, by four standard deviations

  [[nodiscard]] bool always() const { return count == late.size(); }
  [[nodiscard]] bool together() const { return count > 0 && last - first + 1 == count; }
  [[nodiscard]] bool regular() const { return always() || together() || every > 0; }
};

// `lateness`: own time less the median of the other ranks, by step. `spread`: standard deviation of the own
// times of the others. Where steps do not lie apart, all of them are late.
LatePattern late_pattern(std::span<const double> lateness, double spread);

// Probability of such an arrangement of late steps, and of one rank among `world` having all of them, where
// every step is late by chance. 1 where the pattern is not clear, or too short to be one.
double chance_of_pattern(const LatePattern& pattern, std::span<const double> lateness, std::size_t world);

}  // namespace paceline::result
