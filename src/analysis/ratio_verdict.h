// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "result/figures/pair_ratio.h"
#include "result/stored/run_result.h"
#include "stats/interval.h"

// Judges the ratio of one figure of two cases with the margin of verdicts (methodology: findings).
namespace paceline::analysis {

using result::Figure;

enum class Claim : std::uint8_t { kNone, kMore, kLess, kEqual, kOpen };

// A ratio with its interval over pairs of processes.
struct Ratio {
  double value = 1;
  stats::Interval ci;
};

struct RatioVerdict {
  Claim claim = Claim::kNone;
  std::optional<Ratio> ratio;  // of every claim but kNone, unless the direction is all that is known
  double margin = 0;           // the smallest relevant difference; within it the two are equal
  std::string reason;          // for kNone, in words
  std::string no_size;         // for kMore and kLess without a ratio, in words
  [[nodiscard]] bool above() const { return ratio ? reason.empty() && ratio->ci.low > 1 : more(); }
  [[nodiscard]] bool more() const { return claim == Claim::kMore; }
  [[nodiscard]] const std::string& doubt() const { return reason.empty() ? no_size : reason; }
};

// Needs six pairs of processes that ran in turns; the ratio comes with both grades.
RatioVerdict judge_ratio(const result::RunResult& run, Figure figure, const result::CaseResult& numerator,
                         const result::CaseResult& denominator);

// "; by how much cannot be said on this machine now: the times of the processes differ too much"
std::string without_size(const std::string& no_size);

// "0.98–1.03"
std::string range_of(const Ratio& ratio);

}  // namespace paceline::analysis
