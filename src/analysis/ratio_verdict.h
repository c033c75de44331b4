// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "result/run_result.h"
#include "stats/ratio.h"

// One figure of a case over the same figure of another, with the margin that verdicts have (methodology:
// findings).
namespace paceline::analysis {

enum class Standing { kNoClaim, kMore, kLess, kEqual, kOpen };

struct RatioVerdict {
  Standing standing = Standing::kNoClaim;
  std::optional<stats::Bracketed> ratio;
  double margin = 0;   // from this difference on it counts; within it the two are equal
  std::string reason;  // of kNoClaim, in words
  bool above = false;  // the intervals of the two do not overlap, and the numerator's is the higher one
};

// A case and one figure of it.
struct Figure {
  const result::CaseResult& one;
  const result::Estimate& estimate;
};

// Both must be intervals over processes of cases of grade A or B that ran in turns; else nothing is claimed.
RatioVerdict judge_ratio(const result::RunResult& run, const Figure& numerator, const Figure& denominator);

// "0.98–1.03"
std::string range_of(const stats::Bracketed& ratio);

}  // namespace paceline::analysis
