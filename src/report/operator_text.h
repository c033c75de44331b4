// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "report/report_run.h"

// Words the operators of a training step with the largest self times, from a pass under the profiler.
namespace paceline::report {

// "3 steps of rank 0 under PyTorch's profiler (Kineto), after 3 others: 24.1 ms a step, 1.31 times the timed
// 18.4 ms. …", or why there is no profile. Empty unless it was asked for.
std::string profile_text(const result::CaseResult& one);

// What to keep in mind when reading the table.
std::string_view profile_caveat();

// One table per case that asked for one; empty without any.
std::string operators_terminal(const result::RunResult& run, std::size_t width);
std::string operators_markdown(std::span<const ReportRun> runs);
std::string operators_html(const result::CaseResult& one);

}  // namespace paceline::report
