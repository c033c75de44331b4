// SPDX-License-Identifier: MIT
// Sizes of a sweep of collectives as parts.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/difference/step_parts.h"
#include "base/units.h"

namespace paceline::analysis::difference {
namespace {

// Repetitions that timed every size: the others would count for another one.
std::set<std::int64_t> complete_repetitions(const result::MediansBySize& medians) {
  std::set<std::int64_t> complete;
  for (const auto& timed : medians.begin()->second)
    if (std::ranges::all_of(medians, [&](const auto& size) { return size.second.contains(timed.first); }))
      complete.insert(timed.first);
  return complete;
}

}  // namespace

TimedParts size_parts(const result::CaseResult& one, const result::MediansBySize& medians) {
  TimedParts side{.unit_words = "pass over all sizes", .ordered = false};
  side.missing = "there are no times of its operations";
  if (medians.empty() || !one.collective()) return side;
  const auto repetitions = complete_repetitions(medians);
  side.missing = repetitions.empty() ? "no process timed all sizes" : "";
  side.total_ns.resize(repetitions.size());
  const auto& operation = one.collective()->operation;
  for (const auto& [size, by_repetition] : medians) {
    const auto bytes = format_bytes(static_cast<double>(size.first));
    TimedPart part{.is = {operation, operation + (size.second ? " in place" : ""), {}, {}, bytes}};
    for (const auto repetition : repetitions) part.times_ns.push_back(by_repetition.at(repetition));
    for (std::size_t i = 0; i < part.times_ns.size(); ++i) side.total_ns[i] += part.times_ns[i];
    side.parts.push_back(std::move(part));
  }
  return side;
}

}  // namespace paceline::analysis::difference
