// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "report/report_run.h"
#include "result/run_result.h"

// Makes the cells of a case in tables for people. One without a number is empty; other functions say why.
namespace paceline::report {

struct CaseCells {
  std::string p50_ms;      // "54.1 ±0.9", "8.23 (3.74–54.3)"
  std::string p99_ms;      // "61.2"
  std::string throughput;  // "18.5", items per second
  std::string speedup;     // "1.13 ±0.03", "1.00 (base)"; undecided: "0.96–1.12"
  std::string memory;      // "312 MB"
  std::string kept;        // "98.4 %" of the answers are the reference's
  std::string of_peak;     // "65 %" of what the machine was measured to do
  std::string foreign;     // "0.6 %" of the machine used by others
  std::string grade;       // "B  neighbours used 6 % of the machine"
  std::string no_claim;    // why there is no speed-up, in words; empty where there is one, or no baseline
};

CaseCells cells_of(const result::RunResult& run, const result::CaseResult& one);

std::string or_none(const result::Number& number, std::string (*format)(double));  // kNone without a number
std::string percent_or_none(const result::Number& number);
std::string significant_or_none(const result::Number& number);

bool is_training(const result::CaseResult& one);  // measured, with figures of its ranks

// Whether some case was judged by its answers, which the column of kept answers needs.
bool shows_kept(std::span<const ReportRun> runs);
// The accuracy check in a sentence; empty where nothing was compared.
std::string accuracy_text(const result::CaseResult& one);
// How requests were batched, in a sentence; empty where they were not.
std::string batching_text(const result::CaseResult& one);

// Why there is no p99, in words; empty where there is one.
std::string p99_reason(const result::CaseResult& one);

// "p98 is the highest quantile its samples can carry"; empty where that is not known.
std::string highest_quantile_text(const result::CaseResult& one);

// "skipped: reason", "failed (accuracy): reason"; empty for a measured case.
std::string outcome_text(const result::CaseResult& one);

// "54.1 ±0.9" where the interval is about symmetric: its wider half, with the decimals of the value; else
// "54.1 (53.0–58.9)".
std::string with_interval(const result::Estimate& estimate, double scale = 1);

inline constexpr std::size_t kReasonsShown = 2;  // in a table; the page and result.json have all
// "B  reason, reason, and 3 more": the grade with its first reasons.
std::string grade_text(const result::CaseResult& one, std::size_t shown);

// "images/s" when all cases count the same item, else "items/s".
std::string throughput_head(const result::RunResult& run);

}  // namespace paceline::report
