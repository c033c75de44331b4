// SPDX-License-Identifier: MIT
#include "analysis/ratio_verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "result/comparable.h"
#include "result/noise_rules.h"
#include "stats/compare.h"

namespace paceline::analysis {
namespace {

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
  const auto above = result::bracketed(numerator.estimate), below = result::bracketed(denominator.estimate);
  if (above && below) judged.ratio = stats::ratio_of(*above, *below);
  judged.reason = result::obstacle(numerator.one, denominator.one, run.resumed_utc);
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
