// SPDX-License-Identifier: MIT
// The ratio of two estimates with its interval.
#pragma once
#include "stats/interval.h"

namespace paceline::stats {

// An estimate with its interval; all values are above 0.
struct Bracketed {
  double value = 1;
  Interval ci;
};

// numerator / denominator of two independent estimates: MOVER on logarithms (methodology: scaling
// efficiency).
Bracketed ratio_of(const Bracketed& numerator, const Bracketed& denominator);

}  // namespace paceline::stats
