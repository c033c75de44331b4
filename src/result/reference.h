// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

#include "result/case_result.h"

namespace paceline::result {

// Ends the name of a reference that is the case once more: the same file in the same engine.
inline constexpr std::string_view kNoIndependentCheck = "no independent check";

// Whether the answers were compared with something else than themselves.
inline bool has_independent_reference(const Correctness& correctness) {
  return !std::string_view(correctness.reference).ends_with(kNoIndependentCheck);
}

}  // namespace paceline::result
