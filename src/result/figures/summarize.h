// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/stored/case_result.h"
#include "result/stored/samples.h"

namespace paceline::result {

struct SummaryOptions {
  double confidence = 0.95;
  double items_per_iteration = 1;  // batch size times items per sample
  std::string item = "images";
  double timer_resolution_ns = 1;  // lower bound of MADs and jitter, against ties
};

// Summarizes a case: fills every statistic of `result` that follows from its repetitions and samples
// (methodology: quantile intervals, levels, mean and throughput, noise diagnostics, outliers). Pure: the same
// files give the same numbers.
void summarize(CaseResult& result, const std::vector<Sample>& samples, const SummaryOptions& options);

// Why samples are means of several iterations, so that no percentile but the median follows from them:
// "batched" or "pipelined"; empty: they are not.
std::string means_of(const std::vector<Sample>& samples);

// Marks a case without a repetition as skipped, with the reason and without a grade.
void mark_not_measured(CaseResult& result);

// Whether somebody ended the run before all repetitions, or all steps of a job, were there.
bool is_cut_short(const CaseResult& one);

// Why a measured case may not be called faster or slower than its baseline; empty where the interval decides,
// and for a case without a baseline.
std::string no_claim_reason(const CaseResult& one);

// True when a case did more FLOPs per second than the measured peak, which is impossible: the share is then
// missing (methodology: model FLOPs and peaks).
bool above_measured_peak(const Flops& flops);

// Fills in median and mean of one process.
void summarize_repetition(Repetition& repetition, const std::vector<double>& durations_ns);

// Fills `speedup` of `result` against `baseline` over repetitions with the same index that ran as neighbours
// in time (methodology: A/B comparison), whatever the grades. Below six pairs there is
// neither interval nor verdict, and scope and reason say so. `resumed_utc`: when --resume continued the run.
void compare_to_baseline(CaseResult& result, const CaseResult& baseline, double confidence = 0.95,
                         double delta = 0.03, const std::vector<std::string>& resumed_utc = {});

}  // namespace paceline::result
