// SPDX-License-Identifier: MIT
// The words of verdicts in results: the only place that spells them.
#pragma once
#include <string_view>

#include "result/stored/outcome.h"  // before these names: its kFailed would shadow one

namespace paceline::result {

// SpeedUp::verdict, of the case against its baseline; empty: no claim.
inline constexpr std::string_view kFaster = "faster", kSlower = "slower", kEquivalent = "equivalent",
                                  kInconclusive = "inconclusive";
// CrossCheck::verdict has kFaster and kSlower as well, and kCannotSay.
inline constexpr std::string_view kEqual = "equal";
// Which of the two is faster is known.
constexpr bool is_difference(std::string_view verdict) {
  return verdict == kFaster || verdict == kSlower;
}

// GateResult, SloResult and CapacityTrial.
inline constexpr std::string_view kMet = "met", kMissed = "missed", kCannotSay = "cannot_say";

// Correctness::verdict, which has kCannotSay as well.
inline constexpr std::string_view kPassed = "passed", kFailed = "failed", kUnchecked = "unchecked";
// AccuracyClaim::verdict has kPassed and kFailed as well; empty: nothing was to be claimed.
inline constexpr std::string_view kCannotClaim = "cannot_claim";

}  // namespace paceline::result
