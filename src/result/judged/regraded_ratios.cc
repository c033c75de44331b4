// SPDX-License-Identifier: MIT
#include "result/judged/regraded_ratios.h"

#include <algorithm>
#include <string>

#include "result/figures/pair_ratio.h"
#include "result/figures/summarize.h"
#include "result/judged/noise_rules.h"
#include "result/judged/training_scaling.h"
#include "result/stored/older_results.h"

namespace paceline::result {
namespace {

constexpr int kDespiteGradesSince = 7;  // minor version of results

// Both have what a claim needs, and the version that stored them made none because of a grade.
bool was_the_grade(const CaseResult& one, const CaseResult& base) {
  return is_older(one.schema_version, kDespiteGradesSince) &&
         (one.grade == Grade::kC || base.grade == Grade::kC) &&
         std::ssize(one.repetitions) >= kPairsForClaim && std::ssize(base.repetitions) >= kPairsForClaim;
}

const CaseResult* stored_case(const std::vector<CaseResult>& cases, const std::string& id) {
  const auto found = std::ranges::find(cases, id, &CaseResult::case_id);
  return found == cases.end() ? nullptr : &*found;
}

bool judge_again(CaseResult& one, const std::vector<CaseResult>& cases,
                 const std::vector<std::string>& resumed_utc) {
  const auto* base = stored_case(cases, one.speedup.baseline_case_id);
  if (base == nullptr || base == &one || !one.speedup.verdict.empty() || !was_the_grade(one, *base))
    return false;
  compare_to_baseline(one, *base, one.speedup.ratio.confidence, smallest_difference(profile_of(one)),
                      resumed_utc);
  return true;
}

bool is_unscaled_by_grade(const CaseResult& one, const std::vector<CaseResult>& cases) {
  if (!one.scaling || one.scaling->ci_low) return false;
  const auto* base = stored_case(cases, one.scaling->base_case_id);
  return base != nullptr && was_the_grade(one, *base);
}

}  // namespace

bool claim_despite_grades(std::vector<CaseResult>& cases, const std::vector<std::string>& resumed_utc) {
  bool any = false;
  for (auto& one : cases) any |= judge_again(one, cases, resumed_utc);
  const bool scaled =
      std::ranges::any_of(cases, [&](const auto& one) { return is_unscaled_by_grade(one, cases); });
  if (!scaled) return any;
  std::vector<CaseResult*> all;
  for (auto& one : cases) all.push_back(&one);
  compare_scaling(all, resumed_utc);
  return true;
}

}  // namespace paceline::result
