// SPDX-License-Identifier: MIT
// Result of a check of accuracy: whether outputs are wrong, and what they were compared with.
#pragma once
#include <string>
#include <string_view>

#include "result/stored/case_result.h"
#include "result/stored/verdicts.h"

namespace paceline::result {

// The name of a reference ends like this when it is the case itself: the same file in the same engine.
inline constexpr std::string_view kNoIndependentCheck = "no independent check";
// Begins the detail of a quantised file whose engine strays from the file's own unoptimised run.
inline constexpr std::string_view kEngineIsWrong = "the engine is wrong, not the file";

// Why generated inputs decide nothing about eight bits.
inline constexpr std::string_view kNeedsInputs =
    "the inputs are generated: whether its answers hold needs yours (--load-inputs, --calib-data)";

bool has_independent_reference(const Correctness& correctness);

// Outputs are known to be outside their limits. Not so where the check could see no error.
inline bool is_wrong(const Correctness& correctness) {
  return correctness.checked && !correctness.passed && correctness.verdict != kCannotSay;
}

inline constexpr std::string_view kCannotSayWord = "cannot say";

// Remark beside a measured inference whose outputs no independent check has found right.
struct CheckRemark {
  std::string word;  // kCannotSayWord | kUnchecked | not independent; empty: no remark
  std::string why;
};
CheckRemark check_remark(const CaseResult& one);

}  // namespace paceline::result
