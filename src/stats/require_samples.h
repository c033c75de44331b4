// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "base/error.h"

namespace paceline::stats {

// Throws Error(kInternal) where there are none; `what` was asked for: "a quantile".
inline void require_samples(std::span<const double> x, const char* what) {
  if (x.empty()) throw Error(ErrorCode::kInternal, std::string(what) + " of no samples was asked for");
}

}  // namespace paceline::stats
