// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "report/format_table.h"
#include "report/section.h"

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

// html_readings.cc: charts with their readings
std::string main_charts_title(std::span<const ReportRun> runs);
Sections main_charts(std::span<const ReportRun> runs);
Sections more_charts(std::span<const ReportRun> runs);
Chart samples_chart(const ReportCase& entry, const RenderOptions& options);

// html_section.cc
std::string scrolling(const std::string& html);  // in a box that scrolls sideways
std::string bare_html_of(const Table& table);    // also without rows, and without such a box
std::string formula_link(std::string_view metric);

}  // namespace paceline::report
