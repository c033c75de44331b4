// SPDX-License-Identifier: MIT
#pragma once
#include "stats/interval.h"

namespace paceline::stats {

// An estimate with its interval; all above 0.
struct Bracketed {
  double value = 1;
  Interval ci;
};

// numerator / denominator of two estimates that are independent of each other: MOVER on logarithms
// (methodology: scaling efficiency).
Bracketed ratio_of(const Bracketed& numerator, const Bracketed& denominator);

}  // namespace paceline::stats
