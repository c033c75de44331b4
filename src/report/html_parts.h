// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "report/answer_parts.h"
#include "report/format.h"
#include "report/report_run.h"

// Pieces of the HTML page; each returns escaped markup. The page works without scripts: charts are added to
// it.
namespace paceline::report {

// html_sections.cc
TextOfRun run_html;                                              // verdict, machine and validity line
std::string key_findings_html(std::span<const ReportRun> runs);  // the three that matter
TextOfRun findings_html;                                         // all, with evidence, then advice and gates
TextOfRun environment_html, reproduce_html;
std::string formulas_html();

// html_cases.cc
// With more cases, their details stay text until one is opened, which spares the browser building all.
constexpr std::size_t kManyCases = 200;
std::string case_details_html(std::span<const ReportRun> runs, const RenderOptions& options);

// html_readings.cc: charts with their readings
std::string main_charts_title(std::span<const ReportRun> runs);
Sections main_charts(std::span<const ReportRun> runs);
Sections more_charts(std::span<const ReportRun> runs);
Chart samples_chart(const ReportCase& entry, const RenderOptions& options);

// resources.cc: sections of the page of runs, embedded at build time (resources.S)
std::string_view run_template();

bool is_compared(const result::CaseResult& one);  // with another case, so that both have a ratio

// html_cases.cc
std::string case_anchor(const ReportCase& entry);  // the id of its details, different for each run
// Adds a text under a key; each key appears once, in the order of its first text.
using Groups = std::vector<std::pair<std::string, std::vector<std::string>>>;
void add_to(Groups& groups, const std::string& key, std::string text);

}  // namespace paceline::report
