// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/interval.h"

// Compares A with B over interleaved process pairs (methodology: A/B comparison).
namespace paceline::stats {

enum class Verdict : std::uint8_t { kRegression, kImprovement, kEquivalent, kInconclusive };
std::string_view verdict_name(Verdict verdict);

enum class Better : std::uint8_t { kLower, kHigher };

struct CompareConfig {
  double delta = 0.03;  // smallest change that counts, as a fraction
  std::optional<double>
      aa_halfwidth;  // half-width of the same binary against itself; delta is at least twice this
  double confidence = 0.95;
  Better better = Better::kLower;
  bool any_spread = false;  // keeps the size however much the processes vary
};

struct Comparison {
  std::int64_t pairs = 0;
  double estimate_ratio = 1;         // candidate / baseline, exp of the median log ratio
  std::optional<Interval> ci_ratio;  // order statistics of the log ratios; below nine pairs cut by Student's
                                     // t where those are alike; none with a reason or `no_size`
  std::optional<double> actual_coverage;  // of the order statistics
  double confidence = 0.95;
  double delta = 0;   // the value that was used
  double p_sign = 1;  // two-sided exact sign test; ties count against a difference
  Verdict verdict = Verdict::kInconclusive;
  std::string reason;   // why there is neither interval nor verdict: "fewer than six pairs"
  std::string no_size;  // why the pairs allow a direction at most: the verdict holds, the estimate does not
};
// Element i of both spans is one pair of per-process values, all > 0. Throws Error(kData) for spans of
// unequal length or without pairs, and for a value that is not positive.
Comparison compare_pairs(std::span<const double> baseline, std::span<const double> candidate,
                         const CompareConfig& config = {});

// `medians` of processes that waited for CPUs, held against the means of the same pairs. Whether a median
// contains a wait depends on the length of an inference beside the scheduler's slice; a mean has its share of
// all waits. Where both agree the interval is that of both together, else there is no size.
Comparison held_against(Comparison medians, const Comparison& means, const CompareConfig& config = {});

// Sides whose processes did not run in turns: the difference of the medians of the logs, its interval by
// MOVER from those of the two sides (Zou and Donner 2008). Drift between the sides is in it, so the verdict
// is always kInconclusive and p_sign 1; `apart_verdict` has what the interval shows. Values > 0, any number
// of processes on each side; a single one has no interval. Throws Error(kData) as compare_pairs.
struct ApartComparison : Comparison {
  Verdict apart_verdict = Verdict::kInconclusive;
};
ApartComparison compare_apart(std::span<const double> baseline, std::span<const double> candidate,
                              const CompareConfig& config = {});

// The verdict for the interval `d` and estimate of a log ratio; positive is worse, `delta` > 0 the margin.
Verdict verdict(Interval d, double estimate, double delta);

}  // namespace paceline::stats
