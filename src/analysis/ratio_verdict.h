// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "result/run_result.h"
#include "stats/ratio.h"

// Judges the ratio of one figure of two cases with the margin of verdicts (methodology: findings).
namespace paceline::analysis {

enum class Standing { kNoClaim, kMore, kLess, kEqual, kOpen };

struct RatioVerdict {
  Standing standing = Standing::kNoClaim;
  std::optional<stats::Bracketed> ratio;
  double margin = 0;   // the smallest relevant difference; within it the two are equal
  std::string reason;  // for kNoClaim, in words
  bool above = false;  // the intervals do not overlap, and the numerator's is the higher one
};

// A case and one figure of it.
struct Figure {
  const result::CaseResult& one;
  const result::Estimate& estimate;
};

// Needs intervals over processes of cases of grade A or B that ran in turns; otherwise nothing is claimed.
RatioVerdict judge_ratio(const result::RunResult& run, const Figure& numerator, const Figure& denominator);

// "0.98–1.03"
std::string range_of(const stats::Bracketed& ratio);

}  // namespace paceline::analysis
