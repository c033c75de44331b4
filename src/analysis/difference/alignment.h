// SPDX-License-Identifier: MIT
// Finds which parts of two sides are the same work, by their order and signatures, never by position alone.
#pragma once
#include <cstddef>
#include <vector>

#include "analysis/difference/part_key.h"

namespace paceline::analysis::difference {

// Indices of parts that are the same work. One side is empty where the part is new or vanished; one has
// several indices where the other side runs them as one.
struct Aligned {
  std::vector<std::size_t> a{}, b{};
};

// Longest run of parts that another side may have fused into one.
inline constexpr std::size_t kMostFused = 6;

// Aligns lists in order of execution with least cost (Needleman and Wunsch, with fused runs as further
// steps). The rows follow the order of both sides. Time and memory are O(n * m) up to 32 million pairs,
// beyond that only pairs near the diagonal are considered.
std::vector<Aligned> align_ordered(const PartKeys& keys);

// Pairs parts without an order by name, then by normalised name, then those that are left alone in a layer.
std::vector<Aligned> align_by_name(const PartKeys& keys);

// Cost of taking two parts for the same work, in units of leaving one of them alone; beyond kNeverPaired they
// are of different types.
double pair_cost(const PartKey& a, const PartKey& b);
inline constexpr double kNeverPaired = 1e6;

}  // namespace paceline::analysis::difference
