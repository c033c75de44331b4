// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "report/report_run.h"

// Words a cross-check with the engine's own tool for every report.
namespace paceline::report {

// "equal within 1.1 %", "slower by 6.2 % (4.1–8.3 %)"; empty without a ratio.
std::string cross_check_verdict(const result::CrossCheck& check);

// "benchmark_app 10.6 ms, Paceline 10.7 ms, ratio 1.004 (0.998–1.011), 10 pairs of processes: equal within
// 1.1 %", or why there is no ratio. Empty unless it was asked for.
std::string cross_check_text(const result::CrossCheck& check);

// One line per case with a cross-check, under a heading; empty without one.
std::string cross_checks_terminal(const result::RunResult& run, std::size_t width);
std::string cross_checks_markdown(std::span<const ReportRun> runs);
std::string cross_check_html(const result::CaseResult& one);

}  // namespace paceline::report
