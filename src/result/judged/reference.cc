// SPDX-License-Identifier: MIT
#include "result/judged/reference.h"

namespace paceline::result {

bool has_independent_reference(const Correctness& correctness) {
  return correctness.independence.empty() &&
         !std::string_view(correctness.reference).ends_with(kNoIndependentCheck);
}

CheckRemark check_remark(const CaseResult& one) {
  const auto& c = one.correctness;
  if (one.outcome != Outcome::kOk || !traits_of(one.benchmark.kind).checks_outputs || one.repetitions.empty())
    return {};
  if (c.verdict == kCannotSay) return {std::string(kCannotSayWord), c.verdict_because};
  constexpr std::string_view kNone = "none: ";
  if (!c.checked)
    return {std::string(kUnchecked), c.reference.substr(c.reference.starts_with(kNone) ? kNone.size() : 0)};
  if (!has_independent_reference(c))
    return {"not independent", c.independence.empty() ? c.reference : c.independence};
  return {};
}

}  // namespace paceline::result
