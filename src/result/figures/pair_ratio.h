// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "result/stored/case_result.h"
#include "stats/compare.h"

// The ratio of one figure of two cases, of one run or of two, over repetitions that ran in turns
// (methodology: A/B comparison). All comparisons of measured cases use it; the grades of the two cases do not
// matter to it.
namespace paceline::result {

enum class Figure : std::uint8_t {
  kLatency,
  kRate
};  // median time; work per second (of a server: saturation)

struct PairRatio {
  std::int64_t pairs = 0, apart = 0;       // repetitions that ran as neighbours in time, and others
  std::optional<stats::Comparison> found;  // numerator / denominator; none without a pair
  std::string reason;   // why nothing may be claimed; empty: the interval or the direction decides
  std::string no_size;  // why the processes allow a direction at most, which the verdict of `found` is
};

// One process's median time in ns, or the case's rate as that process had it.
Number process_value(const CaseResult& one, const Repetition& repetition, Figure figure);

// `resumed_utc`: when --resume continued a run of the two. `delta`: the smallest difference that counts.
PairRatio pair_ratio(const CaseResult& numerator, const CaseResult& denominator, Figure figure,
                     const std::vector<std::string>& resumed_utc, double confidence, double delta);

// Why no ratio of this case may be claimed: its times are not those of the workload alone (a debugger was
// attached, or the load was not the requested one). Empty: ratios may be claimed.
std::string distortion(const CaseResult& one);

// Number of pairs that an interval of this confidence needs, at least six; 8 at 99 %.
inline constexpr std::int64_t kPairsForClaim = 6;
std::int64_t pairs_for_claim(double confidence);

}  // namespace paceline::result
