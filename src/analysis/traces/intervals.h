// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

// Sets of time intervals, in ns.
namespace paceline::analysis::traces {

struct Interval {
  std::int64_t begin = 0, end = 0;  // end is not in it
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorted and disjoint, unless said otherwise.
using Intervals = std::vector<Interval>;

// The union of intervals in any order.
Intervals merged(Intervals any);
// Returns `a` minus `b`.
Intervals without(const Intervals& a, const Intervals& b);
// Intersects; pass the smaller one as `a`.
Intervals common(const Intervals& a, const Intervals& b);
std::int64_t length(const Intervals& a);
// Takes out of `left` what is in `part`, and returns how much that is.
std::int64_t claim(Intervals& left, const Intervals& part);
bool contains(const Intervals& a, std::int64_t time);

}  // namespace paceline::analysis::traces
