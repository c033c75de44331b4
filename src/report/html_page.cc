// SPDX-License-Identifier: MIT
// Puts the HTML page together from its template and its parts.
#include <fmt/format.h>

#include <algorithm>

#include "report/answer_parts.h"
#include "report/case_cells.h"
#include "report/format_table.h"
#include "report/html_parts.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

// Each case of a page of very many gets fewer points, so that a browser still opens it: 2,000 up to 122
// cases, 30 from 1,000 on.
constexpr std::size_t kPointsTimesCasesSquared = 30'000'000, kFewestPoints = 30;

std::size_t points_of_case(std::size_t cases, std::size_t most) {
  if (cases == 0) return most;
  return std::min(most, std::max(kFewestPoints, kPointsTimesCasesSquared / (cases * cases)));
}

// With very many cases, the page's style asks for their number.
std::string many_html(std::size_t cases) {
  return cases > kManyCases ? fmt::format(" class=\"many\" style=\"--cases: {}\"", cases) : "";
}

std::string page_title(std::span<const ReportRun> runs) {
  std::string title = title_of(runs.front().result);
  for (const ReportRun& run : runs.subspan(1))
    if (const auto other = title_of(run.result); title.find(other) == std::string::npos)
      title += ", " + other;
  return title;
}

constexpr std::string_view kLinks =
    "<a href=\"#charts\">Charts</a> <a href=\"#cases\">Cases</a> <a href=\"#findings\">Findings</a> "
    "<a href=\"#environment\">Environment</a> <a href=\"#formulas\">Formulas</a> "
    "<a href=\"#reproduce\">Reproduce</a>";

struct SubjectsHtml {
  std::string links, before_cases, behind_cases;
};

std::string between_html(std::span<const ReportRun> runs) {
  const auto words = between_runs(runs);
  return words.empty() ? "" : fmt::format("<p class=\"verdict\">{}</p>\n", escape_html(words));
}

// The subjects over all cases.
SubjectsHtml subjects_html(std::span<const ReportRun> runs) {
  SubjectsHtml all;
  for (const Subject* subject : kSubjects) {
    const auto html = subject->of_runs ? html_of(subject->of_runs(runs, Form::kPage)) : "";
    if (html.empty()) continue;
    all.links += fmt::format("<a href=\"#{}\">{}</a> ", subject->id, subject->heading);
    (subject->behind_cases ? all.behind_cases : all.before_cases) +=
        fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", subject->id, subject->heading, html);
  }
  return all;
}

}  // namespace

std::string render_html(std::span<const ReportRun> runs, const RenderOptions& asked) {
  if (runs.empty()) return {};
  RenderOptions options = asked;
  const std::size_t cases = side_by_side(runs).size();
  options.max_points = points_of_case(cases, asked.max_points);
  const auto subjects = subjects_html(runs);
  const auto body =
      filled(run_template(), {{"main_charts_title", main_charts_title(runs)},
                              {"main_charts", html_of(main_charts(runs))},
                              {"subjects", subjects.before_cases},
                              {"late_subjects", subjects.behind_cases},
                              {"many_cases", many_html(cases)},
                              {"case_table", scrolling(bare_html_of(case_table(runs, Form::kPage)))},
                              {"case_details", case_details_html(runs, options)},
                              {"more_charts", html_of(more_charts(runs))},
                              {"findings", of_each(runs, findings_html)},
                              {"environment", of_each(runs, environment_html)},
                              {"formulas", formulas_html()},
                              {"reproduce", of_each(runs, reproduce_html)}});
  return answer::page_of(
      {.title = page_title(runs),
       .header = between_html(runs) + of_each(runs, run_html) + "\n" + key_findings_html(runs),
       .links = subjects.links + std::string(kLinks),
       .main = body,
       .first = "cases",
       .skip = "Skip to the table of cases"});
}

}  // namespace paceline::report
