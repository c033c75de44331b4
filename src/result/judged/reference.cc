// SPDX-License-Identifier: MIT
#include "result/judged/reference.h"

namespace paceline::result {

CheckRemark check_remark(const CaseResult& one) {
  const auto& c = one.correctness;
  if (one.outcome != Outcome::kOk || !traits_of(one.benchmark.kind).checks_outputs || one.repetitions.empty())
    return {};
  if (c.verdict == kCannotSay) return {std::string(kCannotSayWord), c.verdict_because};
  if (!c.checked)
    return {std::string(kUnchecked), c.unchecked_because.empty() ? c.reference : c.unchecked_because};
  if (!has_independent_reference(c)) return {"not independent", c.independence};
  return {};
}

}  // namespace paceline::result
