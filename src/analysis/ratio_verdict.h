// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "result/pair_ratio.h"
#include "result/run_result.h"
#include "stats/interval.h"

// Judges the ratio of one figure of two cases with the margin of verdicts (methodology: findings).
namespace paceline::analysis {

using result::Figure;

enum class Standing : std::uint8_t { kNoClaim, kMore, kLess, kEqual, kOpen };

// A ratio with its interval over pairs of processes.
struct Ratio {
  double value = 1;
  stats::Interval ci;
};

struct RatioVerdict {
  Standing standing = Standing::kNoClaim;
  std::optional<Ratio> ratio;
  double margin = 0;   // the smallest relevant difference; within it the two are equal
  std::string reason;  // for kNoClaim, in words
  [[nodiscard]] bool above() const { return standing != Standing::kNoClaim && ratio->ci.low > 1; }
};

// Needs six pairs of processes that ran in turns; the grades of the two cases stand beside the ratio.
RatioVerdict judge_ratio(const result::RunResult& run, Figure figure, const result::CaseResult& numerator,
                         const result::CaseResult& denominator);

// "0.98–1.03"
std::string range_of(const Ratio& ratio);

}  // namespace paceline::analysis
