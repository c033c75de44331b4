// SPDX-License-Identifier: MIT
#include "analysis/ratio_verdict.h"

#include <fmt/format.h>

#include <array>

#include "base/units.h"
#include "result/judged/noise_rules.h"

namespace paceline::analysis {

RatioVerdict judge_ratio(const result::RunResult& run, Figure figure, const result::CaseResult& numerator,
                         const result::CaseResult& denominator) {
  static constexpr std::array kClaims{Claim::kMore, Claim::kLess, Claim::kEqual,
                                      Claim::kOpen};  // as stats::Verdict
  RatioVerdict judged;
  judged.margin = result::smallest_difference(result::profile_of(numerator));
  const auto pairs = result::pair_ratio(numerator, denominator, figure, run.resumed_utc,
                                        numerator.headline.p50_ns.confidence, judged.margin);
  if (pairs.found && pairs.found->ci_ratio)
    judged.ratio = Ratio{pairs.found->estimate_ratio, *pairs.found->ci_ratio};
  judged.reason = pairs.reason;
  judged.no_size = pairs.no_size;
  if (judged.reason.empty()) judged.claim = kClaims.at(static_cast<std::size_t>(pairs.found->verdict));
  return judged;
}

std::string without_size(const std::string& no_size) {
  return "; by how much cannot be said on this machine now: " + no_size;
}

std::string range_of(const Ratio& ratio) {
  return fmt::format("{}–{}", format_fixed(ratio.ci.low, 2), format_fixed(ratio.ci.high, 2));
}

}  // namespace paceline::analysis
