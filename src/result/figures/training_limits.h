// SPDX-License-Identifier: MIT
#pragma once
#include "result/stored/training.h"

// These limits decide when a finding, or a warning while a training runs, mentions a figure.
namespace paceline::result {

inline constexpr double kLateRank = 1.05;     // straggler index
inline constexpr double kMuchWaiting = 0.05;  // of a step, for late ranks
inline constexpr double kUnevenSync = 1.4;    // p95 / p50 of exposed communication
inline constexpr double kWorthSync = 0.05;    // of a step: below that its variation does not matter

// Share of a step that the typical rank waits for a late one.
inline Number cost_share(const Training& t, const LateRank& late) {
  const Number& step = t.costs.step_ns.value;
  if (!step || !late.cost_ns) return Number::missing(step ? late.cost_ns.reason() : step.reason());
  return *step > 0 ? Number(*late.cost_ns / *step) : Number::missing("a step takes no time");
}

// Whether a rank is late with certainty, and by so much that findings and warnings name it. A rank that is
// late now and then costs waiting without a median that shows it.
inline bool has_straggler(const Training& t) {
  if (!t.straggler_rank || t.late.empty()) return false;
  const Number cost = cost_share(t, t.late.front());
  return (t.straggler_index && *t.straggler_index >= kLateRank) || (cost && *cost >= kMuchWaiting);
}

}  // namespace paceline::result
