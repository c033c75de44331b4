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

// True when a case did more FLOPs a second than the measured peak, which cannot be: the share is then missing
// (methodology: model FLOPs and peaks).
bool above_measured_peak(const Flops& flops);

// Median and mean of one process, for its Repetition.
void summarize_repetition(Repetition& repetition, const std::vector<double>& durations_ns);

// Fills `speedup` of `result` against `baseline` over repetitions of the same index, which ran interleaved
// (methodology: A/B comparison). A grade C on either side means no verdict. Below six pairs there is no
// interval, no verdict, and the scope says so.
void compare_to_baseline(CaseResult& result, const CaseResult& baseline, double confidence = 0.95,
                         double delta = 0.03);

}  // namespace paceline::result
