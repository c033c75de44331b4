// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/case_result.h"
#include "result/samples.h"

namespace paceline::result {

struct SummaryOptions {
  double confidence = 0.95;
  double items_per_iteration = 1;  // batch size times items per sample
  std::string item = "images";
  double timer_resolution_ns = 1;  // floor of MADs and jitter against ties
};

// Fills every statistic of `result` that follows from its repetitions and samples (methodology: quantile
// intervals, levels, mean and throughput, noise diagnostics, outliers). Pure: the same files give the same
// numbers.
void summarize(CaseResult& result, const std::vector<Sample>& samples, const SummaryOptions& options);

// A case without a repetition: skipped, with the reason, and without a grade.
void mark_not_measured(CaseResult& result);

// Below that no interval at 95 % exists (methodology: A/B comparison).
inline constexpr std::int64_t kPairsForClaim = 6;
// As many as an interval of this confidence needs, and no fewer: 8 at 99 %.
std::int64_t pairs_for_claim(double confidence);

// Why nobody may say how much faster or slower a measured case is than its baseline; empty where the interval
// decides, and for a case without a baseline of its own.
std::string no_claim_reason(const CaseResult& one);

// True when a case did more FLOPs a second than the measured peak, which cannot be: the share is then missing
// (methodology: model FLOPs and peaks).
bool above_measured_peak(const Flops& flops);

// Median and mean of one process, for its Repetition.
void summarize_repetition(Repetition& repetition, const std::vector<double>& durations_ns);

// Fills `speedup` of `result` against `baseline` over repetitions of the same index that ran as neighbours in
// time (methodology: A/B comparison). A grade C on either side means no verdict. Below six pairs there is no
// interval, no verdict, and scope and reason say so. `resumed_utc`: when --resume went on with the run.
void compare_to_baseline(CaseResult& result, const CaseResult& baseline, double confidence = 0.95,
                         double delta = 0.03, const std::vector<std::string>& resumed_utc = {});

}  // namespace paceline::result
