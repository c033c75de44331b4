// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "report/report_run.h"

// Words the longest layers of a case and what they add up to.
namespace paceline::report {

// "53 layers, together 10.9 ms: 102 % of the measured 10.7 ms (medians of 20 inferences; …)", or why there
// are no times. Empty unless they were asked for.
std::string layer_sum_text(const result::CaseResult& one);

// What to keep in mind when reading the table.
std::string_view layer_caveat();

// One table per case that asked for one; empty without any.
std::string layers_terminal(const result::RunResult& run, std::size_t width);
std::string layers_markdown(std::span<const ReportRun> runs);
std::string layers_html(const result::CaseResult& one);

}  // namespace paceline::report
