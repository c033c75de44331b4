// SPDX-License-Identifier: MIT
// Puts the HTML page together from its template and its parts.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

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

using Values = std::map<std::string, std::string, std::less<>>;

// Replaces each {{name}} once; inserted text is not searched again.
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

struct SubjectsHtml {
  std::string links, before_cases, behind_cases;
};

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
  return fill(page_template(), {{"title", escape_html(page_title(runs))},
                                {"style", std::string(page_style()).append(page_plot_style())},
                                {"runs", of_each(runs, run_html)},
                                {"key_findings", key_findings_html(runs)},
                                {"main_charts_title", main_charts_title(runs)},
                                {"main_charts", html_of(main_charts(runs))},
                                {"subjects", subjects.before_cases},
                                {"late_subjects", subjects.behind_cases},
                                {"subject_links", subjects.links},
                                {"many_cases", many_html(cases)},
                                {"case_table", scrolling(bare_html_of(case_table(runs, Form::kPage)))},
                                {"case_details", case_details_html(runs, options)},
                                {"more_charts", html_of(more_charts(runs))},
                                {"findings", of_each(runs, findings_html)},
                                {"environment", of_each(runs, environment_html)},
                                {"formulas", formulas_html()},
                                {"reproduce", of_each(runs, reproduce_html)},
                                {"script", std::string(page_script())}});
}

}  // namespace paceline::report
