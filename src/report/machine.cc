// SPDX-License-Identifier: MIT
// Shows what a machine did while it was watched: beside a run (--monitor), or in a recording alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/display_text.h"
#include "base/text.h"
#include "base/units.h"
#include "report/answer_parts.h"
#include "report/chart/plots.h"
#include "report/recording.h"
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

std::string course_words(const MachineCourse& course) {
  return fmt::format("{} in {} on {}, from {} on.",
                     plural(static_cast<std::int64_t>(course.readings), "reading"),
                     format_duration_ns(course.empty() ? 0 : course.times_s.back() * 1e9),
                     on_one_line(course.host), course.begun_utc);
}

Chart chart_of(const MachineCourse& course) {
  return {.id = "machine",
          .title = "Course of the machine",
          .reading = course.passes.empty() ? "No timed pass was seen." : "Shade: a timed pass was under way.",
          .metric = {},
          .plots = machine_plots(course)};
}

Sections machine_sections(const MachineCourse& course) {
  if (course.empty()) return {};
  Section figures{
      .warnings = course.warnings, .table = figures_of(course), .paragraphs = {course_words(course)}};
  for (const auto& reason : course.absent) figures.notes.push_back("Not read: " + reason);
  return {std::move(figures), {.chart = chart_of(course)}};
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

answer::Answer answer_of(const MachineCourse& course) {
  answer::Answer answer{.title = on_one_line(course.host),
                        .sentence = course_words(course),
                        .sections = {{.title = std::string(kWatchedHeading), .table = figures_of(course)}},
                        .remarks = course.warnings,
                        .data = {{"host", course.host},
                                 {"begun_utc", course.begun_utc},
                                 {"seconds", course.empty() ? 0 : course.times_s.back()},
                                 {"readings", course.readings}}};
  answer.sections.push_back({.chart = chart_of(course), .aside = true});
  for (const auto& reason : course.absent) answer.remarks.push_back("Not read: " + reason);
  return answer;
}

}  // namespace paceline::report
