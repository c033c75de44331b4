// SPDX-License-Identifier: MIT
// Tells whether answers were compared with something else than themselves.
#pragma once
#include <string_view>

#include "result/case_result.h"

namespace paceline::result {

// The name of a reference ends like this when it is the case itself: the same file in the same engine.
inline constexpr std::string_view kNoIndependentCheck = "no independent check";

inline bool has_independent_reference(const Correctness& correctness) {
  return !std::string_view(correctness.reference).ends_with(kNoIndependentCheck);
}

}  // namespace paceline::result
