// SPDX-License-Identifier: MIT
#include "analysis/traces/intervals.h"

#include <algorithm>

namespace paceline::analysis::traces {

Intervals merged(Intervals any) {
  std::erase_if(any, [](const Interval& i) { return i.end <= i.begin; });
  std::ranges::sort(any, {}, &Interval::begin);
  Intervals all;
  for (const Interval& i : any) {
    if (all.empty() || i.begin > all.back().end)
      all.push_back(i);
    else
      all.back().end = std::max(all.back().end, i.end);
  }
  return all;
}

Intervals without(const Intervals& a, const Intervals& b) {
  Intervals rest;
  for (const Interval& i : a) {
    std::int64_t from = i.begin;
    auto cut = std::ranges::upper_bound(b, i.begin, {}, &Interval::end);
    for (; cut != b.end() && cut->begin < i.end; ++cut) {
      if (cut->begin > from) rest.push_back({from, cut->begin});
      from = cut->end;
    }
    if (from < i.end) rest.push_back({from, i.end});
  }
  return rest;
}

Intervals common(const Intervals& a, const Intervals& b) {
  return without(a, without(a, b));
}

std::int64_t length(const Intervals& a) {
  std::int64_t sum = 0;
  for (const Interval& i : a) sum += i.end - i.begin;
  return sum;
}

std::int64_t claim(Intervals& left, const Intervals& part) {
  const std::int64_t before = length(left);
  left = without(left, part);
  return before - length(left);
}

bool contains(const Intervals& a, std::int64_t time) {
  const auto next = std::ranges::upper_bound(a, time, {}, &Interval::end);
  return next != a.end() && next->begin <= time;
}

}  // namespace paceline::analysis::traces
