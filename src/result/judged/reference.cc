// SPDX-License-Identifier: MIT
#include "result/judged/reference.h"

#include <array>

namespace paceline::result {

std::string CheckRemark::word() const {
  constexpr std::array<std::string_view, 4> kWords{"", "cannot say", "unchecked", "not independent"};
  return std::string(kWords.at(static_cast<std::size_t>(doubt)));
}

CheckRemark check_remark(const CaseResult& one) {
  const auto& c = one.correctness;
  if (one.outcome != Outcome::kOk || !traits_of(one.benchmark.kind).checks_outputs || one.repetitions.empty())
    return {};
  if (c.verdict == answer::Verdict::kCannotSay) return {OutputDoubt::kUndecided, c.verdict_because};
  if (!c.checked)
    return {OutputDoubt::kNotChecked, c.unchecked_because.empty() ? c.reference : c.unchecked_because};
  if (!has_independent_reference(c)) return {OutputDoubt::kNotIndependent, c.independence};
  return {};
}

}  // namespace paceline::result
