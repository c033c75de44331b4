// SPDX-License-Identifier: MIT
#include "result/judged/regraded_ratios.h"

#include <algorithm>
#include <string_view>

#include "result/figures/summarize.h"
#include "result/judged/noise_rules.h"
#include "result/judged/training_scaling.h"

namespace paceline::result {
namespace {

bool was_the_grade(std::string_view reason) {
  return reason.ends_with("is of grade C");
}

bool judge_again(CaseResult& one, const std::vector<CaseResult>& cases,
                 const std::vector<std::string>& resumed_utc) {
  if (!was_the_grade(one.speedup.reason)) return false;
  const auto base = std::ranges::find(cases, one.speedup.baseline_case_id, &CaseResult::case_id);
  if (base == cases.end()) return false;
  compare_to_baseline(one, *base, one.speedup.ratio.confidence, smallest_difference(profile_of(one)),
                      resumed_utc);
  return true;
}

}  // namespace

bool claim_despite_grades(std::vector<CaseResult>& cases, const std::vector<std::string>& resumed_utc) {
  bool any = false;
  for (auto& one : cases) any |= judge_again(one, cases, resumed_utc);
  const bool scaled = std::ranges::any_of(cases, [](const CaseResult& one) {
    return one.scaling && was_the_grade(one.scaling->ci_low.reason());
  });
  if (!scaled) return any;
  std::vector<CaseResult*> all;
  for (auto& one : cases) all.push_back(&one);
  compare_scaling(all, resumed_utc);
  return true;
}

}  // namespace paceline::result
