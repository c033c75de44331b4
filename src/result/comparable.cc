// SPDX-License-Identifier: MIT
#include "result/comparable.h"

#include <fmt/format.h>

#include "result/pairing.h"

namespace paceline::result {

std::string obstacle(const CaseResult& one) {
  if (one.grade == Grade::kC)
    return fmt::format("{} is of grade C", one.label.empty() ? one.case_id : one.label);
  return one.headline.scope == kBetweenProcess ? "" : "fewer than six processes";
}

std::string obstacle(const CaseResult& a, const CaseResult& b, const std::vector<std::string>& resumed_utc) {
  for (const CaseResult* one : {&a, &b})
    if (one->grade == Grade::kC) return obstacle(*one);
  for (const CaseResult* one : {&a, &b})
    if (auto reason = obstacle(*one); !reason.empty()) return reason;
  if (in_turns(a, b, resumed_utc)) return {};
  return "most repetitions of the two did not run as neighbours in time; measure both again together";
}

std::optional<stats::Bracketed> bracketed(const Estimate& e) {
  if (!e.value || !e.ci_low || !e.ci_high || !(*e.ci_low > 0)) return std::nullopt;
  return stats::Bracketed{*e.value, {*e.ci_low, *e.ci_high}};
}

}  // namespace paceline::result
