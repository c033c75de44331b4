// SPDX-License-Identifier: MIT
// The words of comparisons in results: the only place that spells them.
#pragma once
#include <string_view>

namespace paceline::result {

// SpeedUp::verdict, of the case against its baseline; empty: no claim.
inline constexpr std::string_view kFaster = "faster", kSlower = "slower", kEquivalent = "equivalent",
                                  kInconclusive = "inconclusive";
// CrossCheck::verdict has kFaster and kSlower as well, and kCannotSay.
inline constexpr std::string_view kEqual = "equal", kCannotSay = "cannot_say";
// Which of the two is faster is known.
constexpr bool is_difference(std::string_view verdict) {
  return verdict == kFaster || verdict == kSlower;
}

}  // namespace paceline::result
