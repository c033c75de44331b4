// SPDX-License-Identifier: MIT
#include <functional>
#include <map>

#include "report/chart_data.h"
#include "report/documents.h"
#include "report/escape.h"
#include "report/html_parts.h"
#include "report/resources.h"
#include "report/training_text.h"

namespace paceline::report {
namespace {

constexpr const char* kTrainingLink = "<a href=\"#training\">Training</a> ";

using Values = std::map<std::string, std::string, std::less<>>;

// Replaces {{name}} once; what is filled in is not searched again.
std::string fill(std::string_view page, const Values& values) {
  std::string out;
  while (true) {
    const auto open = page.find("{{");
    const auto close = page.find("}}", open);
    if (open == std::string_view::npos || close == std::string_view::npos) return out.append(page);
    const auto found = values.find(page.substr(open + 2, close - open - 2));
    out.append(page.substr(0, open));
    if (found != values.end()) out += found->second;
    page.remove_prefix(close + 2);
  }
}

std::string page_title(std::span<const ReportRun> runs) {
  std::string title = title_of(runs.front().result);
  for (const ReportRun& run : runs.subspan(1))
    if (const auto other = title_of(run.result); title.find(other) == std::string::npos)
      title += ", " + other;
  return title;
}

std::string charts_note() {
  if (!plotly_script().empty()) return "";
  return "<p class=\"warning\">This build has no charts: they need plotly.min.js at build time. Every number "
         "stands in the "
         "tables.</p>";
}

}  // namespace

std::string render_html(std::span<const ReportRun> runs, const RenderOptions& options) {
  if (runs.empty()) return {};
  const std::string training = training_html(runs);
  return fill(page_template(), {{"title", escape_html(page_title(runs))},
                                {"style", std::string(page_style())},
                                {"runs", runs_html(runs)},
                                {"key_findings", key_findings_html(runs)},
                                {"charts_note", charts_note()},
                                {"main_charts_title", main_charts_title(runs)},
                                {"main_charts", main_charts_html(runs)},
                                {"training", training},
                                {"training_link", training.empty() ? "" : kTrainingLink},
                                {"case_table", case_table_html(runs)},
                                {"case_details", case_details_html(runs, options)},
                                {"more_charts", more_charts_html(runs)},
                                {"findings", findings_html(runs)},
                                {"environment", environment_html(runs)},
                                {"formulas", formulas_html()},
                                {"reproduce", reproduce_html(runs)},
                                {"data", json_for_script(chart_data(runs, options))},
                                {"plotly", std::string(plotly_script())},
                                {"script", std::string(page_script())}});
}

}  // namespace paceline::report
