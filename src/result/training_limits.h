// SPDX-License-Identifier: MIT
#pragma once
#include "result/training.h"

// These limits decide when a finding, or a warning while a training runs, mentions a figure.
namespace paceline::result {

inline constexpr double kLateRank = 1.05;     // straggler index
inline constexpr double kMuchWaiting = 0.05;  // of a step, for late ranks
inline constexpr double kUnevenSync = 1.4;    // p95 / p50 of exposed communication
inline constexpr double kWorthSync = 0.05;    // of a step: below that its variation does not matter

// Whether a rank is persistently late, and by so much that findings and warnings name it.
inline bool has_straggler(const Training& t) {
  return t.straggler_rank && t.straggler_index && *t.straggler_index >= kLateRank;
}

}  // namespace paceline::result
