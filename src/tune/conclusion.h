// SPDX-License-Identifier: MIT
// Draws the conclusion of a search: which arm to take, and how sure that is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tune/search.h"

namespace paceline::tune {

enum class Found : std::uint8_t {
  kBest,        // one arm is certainly better than all others
  kEqual,       // several are not told apart
  kUncertain,   // the arm is the best so far, but a constraint is open, or too few rounds compared it
  kInfeasible,  // every measured arm misses a constraint; the nearest one is taken
  kNothing,     // no arm was measured
};

inline constexpr double kSameMemory = 1.05;  // times the least: within it memory is equal

struct Conclusion {
  Found found = Found::kNothing;
  std::optional<std::size_t> arm{};   // to take; of an infeasible search the nearest
  std::vector<std::size_t> equals{};  // not told apart from the best, the best itself included, by cost
  std::optional<double> ahead{};  // each other arm that can be taken costs at least this many times as much
  std::optional<double> missed_by{};    // of the nearest arm: its largest excess
  std::optional<std::size_t> missed{};  // the constraint with that excess
};

// Among arms that are not told apart and whose estimates lie within the margin of the best, a verified one is
// taken, and of those the one with the least memory; memory within 5 % is equal, then cost and key decide.
// By arm: `memory_bytes`, and `verified`, whether its outputs are known to hold; empty: those of none.
Conclusion conclude(const Search& search, const std::vector<Number>& memory_bytes,
                    const std::vector<bool>& verified = {});

// An arm in the race that no round compared with the best one, which it may beat; none: there is no such arm.
std::optional<std::size_t> uncompared(const Search& search);

// Number of rounds that gave the arm a cost.
std::size_t figures_of(const Search& search, std::size_t arm);

// Cost of an arm over that of the best: of a dropped arm when it was dropped, over the best by then; else at
// the end. None before the first look.
std::optional<stats::Interval> cost_over_best(const Search& search, std::size_t arm);

// Arms that no other beats in both figures, by the first one; lower is better. Arms without one are left
// out.
std::vector<std::size_t> pareto_front(const std::vector<Number>& first, const std::vector<Number>& second);

}  // namespace paceline::tune
