// SPDX-License-Identifier: MIT
// Shows what a machine did while it was watched: beside a run (--monitor), or in a recording alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "report/answer_parts.h"
#include "report/chart/plots.h"
#include "report/format_table.h"
#include "report/html_parts.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

constexpr std::string_view kWatchedHeading = "The machine while it was watched";

std::vector<double> read_values(const MachineCurve& curve) {
  auto values = curve.values;
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values;
}

Table figures_of(const MachineCourse& course) {
  Table table{.heads = {"what", "unit", "mean", "lowest", "highest", "readings"},
              .numbers_from = 2,
              .columns_kept = 5};
  for (const auto& curve : course.curves) {
    const auto values = read_values(curve);
    if (values.empty()) continue;
    const auto [low, high] = std::ranges::minmax(values);
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    table.add(on_one_line(curve.name), curve.unit, format_significant(mean), format_significant(low),
              format_significant(high), std::to_string(values.size()));
  }
  return table;
}

const MachineCourse& the_course(std::span<const ReportRun> runs) {
  return runs.front().machine;
}

std::string course_words(const MachineCourse& course) {
  return fmt::format("{} in {} on {}, from {} on.",
                     plural(static_cast<std::int64_t>(course.readings), "reading"),
                     format_duration_ns(course.empty() ? 0 : course.times_s.back() * 1e9),
                     on_one_line(course.host), course.begun_utc);
}

Sections machine_sections(const MachineCourse& course) {
  if (course.empty()) return {};
  Section figures{
      .warnings = course.warnings, .table = figures_of(course), .paragraphs = {course_words(course)}};
  for (const auto& reason : course.absent) figures.notes.push_back("Not read: " + reason);
  Sections all{std::move(figures)};
  all.push_back({.chart = {.id = "machine",
                           .title = "Course of the machine",
                           .reading = course.passes.empty() ? "No timed pass was seen."
                                                            : "Shade: a timed pass was under way.",
                           .metric = {},
                           .plots = machine_plots(course)}});
  return all;
}

Sections sections_of_runs(std::span<const ReportRun> runs, Form form) {
  Sections all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto sections = machine_sections(runs[i].machine);
    if (form != Form::kPage) std::erase_if(sections, [](const auto& one) { return one.table.rows.empty(); });
    for (auto& section : sections) {
      if (runs.size() > 1 && !section.table.rows.empty()) section.title = "Run " + run_letter(i);
      section.aside = true;  // a terminal has the findings
      all.push_back(std::move(section));
    }
  }
  return all;
}

constexpr std::array kMachineCharts{ChartReason{"machine", "the machine was not watched (--monitor)"}};

}  // namespace

constexpr Subject kWatchedMachine{.id = "machine",
                                  .heading = kWatchedHeading,
                                  .behind_cases = true,
                                  .of_runs = sections_of_runs,
                                  .charts = kMachineCharts};

namespace {

std::string render_machine_html(std::span<const ReportRun> runs, const RenderOptions&) {
  const auto& course = the_course(runs);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\n"
      "<title>{0} · paceline monitor</title>\n<style>\n{1}{2}\n</style></head>\n<body>\n"
      "<header><p class=\"brand\">paceline monitor</p><h1>{0}</h1></header>\n<main><section>\n{3}</section>"
      "</main>\n</body></html>\n",
      escape_html(on_one_line(course.host)), page_style(), page_plot_style(),
      html_of(machine_sections(course)));
}

std::string render_machine_markdown(std::span<const ReportRun> runs, const RenderOptions&) {
  const auto& course = the_course(runs);
  std::string out = fmt::format("# {}\n\n{}\n\n{}", escape_markdown(on_one_line(course.host)),
                                escape_markdown(course_words(course)), markdown_of(figures_of(course)));
  for (const auto& words : course.warnings) out += fmt::format("- Warning: {}\n", escape_markdown(words));
  for (const auto& reason : course.absent) out += fmt::format("- Not read: {}\n", escape_markdown(reason));
  return out;
}

std::string render_machine_text(std::span<const ReportRun> runs, const RenderOptions& options) {
  const auto& course = the_course(runs);
  std::string out = course_words(course) + "\n\n" + terminal_of(figures_of(course), options.terminal);
  for (const auto& words : course.warnings) out += "! " + words + "\n";
  for (const auto& reason : course.absent) out += "not read " + on_one_line(reason) + "\n";
  return out;
}

}  // namespace

Format of_recording(const Format& format) {
  auto made = format;
  if (format.render == render_html)
    made.render = render_machine_html;
  else if (format.render == render_markdown)
    made.render = render_machine_markdown;
  else if (format.render == render_text)
    made.render = render_machine_text;
  else
    throw Error(
        ErrorCode::kUsage,
        fmt::format(
            "--format {}: a recording of paceline monitor has no cases; use html, pdf, markdown or text",
            format.name));
  return made;
}

}  // namespace paceline::report
