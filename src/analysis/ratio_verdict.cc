// SPDX-License-Identifier: MIT
#include "analysis/ratio_verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "result/noise_rules.h"
#include "result/pairing.h"
#include "stats/compare.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;
using result::Estimate;

std::optional<stats::Bracketed> bracketed(const Estimate& e) {
  if (!e.value || !e.ci_low || !e.ci_high || !(*e.ci_low > 0)) return std::nullopt;
  return stats::Bracketed{*e.value, {*e.ci_low, *e.ci_high}};
}

// Why nothing may be said of the two; empty where something may.
std::string obstacle(const result::RunResult& run, const CaseResult& a, const CaseResult& b) {
  for (const CaseResult* one : {&a, &b})
    if (one->grade == result::Grade::kC) return fmt::format("{} is of grade C", one->label);
  for (const CaseResult* one : {&a, &b})
    if (one->headline.scope != result::kBetweenProcess) return "fewer than six processes each";
  if (!result::in_turns(a, b, run.resumed_utc))
    return "most repetitions of the two did not run as neighbours in time";
  return {};
}

Standing standing_of(const stats::Bracketed& ratio, double margin) {
  const stats::Interval logs{std::log(ratio.ci.low), std::log(ratio.ci.high)};
  switch (stats::verdict(logs, std::log(ratio.value), margin)) {
    case stats::Verdict::kRegression:
      return Standing::kMore;
    case stats::Verdict::kImprovement:
      return Standing::kLess;
    case stats::Verdict::kEquivalent:
      return Standing::kEqual;
    case stats::Verdict::kInconclusive:
      break;
  }
  return Standing::kOpen;
}

}  // namespace

RatioVerdict judge_ratio(const result::RunResult& run, const Figure& numerator, const Figure& denominator) {
  RatioVerdict judged;
  judged.margin = result::smallest_difference(result::profile_of(numerator.one));
  const auto above = bracketed(numerator.estimate), below = bracketed(denominator.estimate);
  if (above && below) judged.ratio = stats::ratio_of(*above, *below);
  judged.reason = obstacle(run, numerator.one, denominator.one);
  if (judged.reason.empty() && !judged.ratio) judged.reason = "a figure of the two has no interval";
  if (!judged.reason.empty()) return judged;
  judged.standing = standing_of(*judged.ratio, judged.margin);
  judged.above = above->ci.low > below->ci.high;
  return judged;
}

std::string range_of(const stats::Bracketed& ratio) {
  return fmt::format("{:.2f}–{:.2f}", ratio.ci.low, ratio.ci.high);
}

}  // namespace paceline::analysis
