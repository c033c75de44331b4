// SPDX-License-Identifier: MIT
// Puts the timed passes of all cases into an order in which a slow drift of the machine cancels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "config/plan.h"

namespace paceline::run {

struct TimedSlot {
  std::size_t case_index = 0;
  std::int64_t repetition = 0;
};

// Order of the timed passes. Repetition r of every case runs before repetition r+1 of any, in a seeded random
// order that the next repetition reverses, so that a slow drift of the machine cancels in each pair of
// repetitions. repetitions[i] is the count of case i.
std::vector<TimedSlot> interleaved_order(const std::vector<std::int64_t>& repetitions, std::uint64_t seed);

// The same of all cases of a plan that `only` names (empty: all), whatever becomes of them.
std::vector<TimedSlot> launch_order(const std::vector<config::Case>& cases, const std::set<std::string>& only,
                                    std::uint64_t seed);

}  // namespace paceline::run
