// SPDX-License-Identifier: MIT
// The error for statistics of no samples.
#pragma once
#include <span>
#include <string>

#include "base/error.h"

namespace paceline::stats {

// Throws Error(kInternal) if `x` is empty; `what` is the statistic in the message, e.g. "a quantile".
inline void require_samples(std::span<const double> x, const char* what) {
  if (x.empty()) throw Error(ErrorCode::kInternal, std::string(what) + " of no samples was asked for");
}

}  // namespace paceline::stats
