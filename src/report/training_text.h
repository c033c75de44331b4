// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "report/report_run.h"

// Words what a report says about training beside its step times: scaling over ranks, parts of a step, ranks,
// epochs, buckets. Empty where no case trained.
namespace paceline::report {

// One row per case, with notes below.
std::string training_terminal(const result::RunResult& run, std::size_t width);
std::string training_markdown(std::span<const ReportRun> runs);
// The training section of the page: charts (drawn by page/app.js), the table they show, notes.
std::string training_html(std::span<const ReportRun> runs);
// Ranks, epochs and buckets of one case.
std::string training_details_html(const result::CaseResult& one);

bool is_training(const result::CaseResult& one);  // measured, with figures of its ranks

}  // namespace paceline::report
