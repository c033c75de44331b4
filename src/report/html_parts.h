// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "report/format_table.h"

// Pieces of the HTML page; each returns escaped markup. The page works without scripts: charts are added to
// it.
namespace paceline::report {

// html_sections.cc
std::string runs_html(std::span<const ReportRun> runs);  // verdict, machine and validity line of each run
std::string key_findings_html(std::span<const ReportRun> runs);  // the three that matter
std::string findings_html(std::span<const ReportRun> runs);      // all, with evidence, then advice and gates
std::string environment_html(std::span<const ReportRun> runs);
std::string formulas_html();
std::string reproduce_html(std::span<const ReportRun> runs);

// html_cases.cc
std::string case_table_html(std::span<const ReportRun> runs);
std::string case_details_html(std::span<const ReportRun> runs, const RenderOptions& options);

// html_readings.cc: one figure per chart with its one-line reading and a link to the formula
std::string main_charts_title(std::span<const ReportRun> runs);
std::string main_charts_html(std::span<const ReportRun> runs);
std::string more_charts_html(std::span<const ReportRun> runs);
std::string samples_reading(const ReportCase& entry, const RenderOptions& options);

// Shared: a table of two columns, and a link to the formula of a metric.
std::string rows_html(const std::vector<std::pair<std::string, std::string>>& rows);
std::string formula_link(std::string_view metric);

}  // namespace paceline::report
