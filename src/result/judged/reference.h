// SPDX-License-Identifier: MIT
// Result of a check of accuracy: whether outputs are wrong, and what they were compared with.
#pragma once
#include <string>
#include <string_view>

#include "result/stored/case_result.h"

namespace paceline::result {

// The reference comes of another engine, or another engine confirms it.
inline bool has_independent_reference(const Correctness& correctness) {
  return correctness.independence.empty();
}

// Outputs are known to be outside their limits. Not so where the check could see no error.
inline bool is_wrong(const Correctness& correctness) {
  return correctness.checked && !correctness.passed && correctness.verdict != answer::Verdict::kCannotSay;
}

enum class OutputDoubt { kNone, kUndecided, kNotChecked, kNotIndependent };

// Remark beside a measured inference whose outputs no independent check has found right.
struct CheckRemark {
  OutputDoubt doubt = OutputDoubt::kNone;
  std::string why;
  [[nodiscard]] std::string word() const;  // empty without a doubt
  explicit operator bool() const { return doubt != OutputDoubt::kNone; }
};
CheckRemark check_remark(const CaseResult& one);

}  // namespace paceline::result
