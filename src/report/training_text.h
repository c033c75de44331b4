// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "report/report_run.h"

// What a report says of training beside its step times: scaling over ranks, parts of a step, ranks, epochs,
// buckets. Empty where no case trained.
namespace paceline::report {

// One row a case; the notes below.
std::string training_terminal(const result::RunResult& run, std::size_t width);
std::string training_markdown(std::span<const ReportRun> runs);
// The section of the page: charts (page/app.js draws them), the table they show, notes.
std::string training_html(std::span<const ReportRun> runs);
// Ranks, epochs and buckets of one case.
std::string training_details_html(const result::CaseResult& one);

bool is_training(const result::CaseResult& one);  // measured, with figures of its ranks

}  // namespace paceline::report
