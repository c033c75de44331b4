// SPDX-License-Identifier: MIT
#include "compare/comparison_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/difference/difference_words.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/words.h"

namespace paceline::compare {
namespace {

using stats::Verdict;

struct Shown {
  const ComparedCase* one;
  const Figure* figure;
};

std::vector<Shown> figures_that(const Comparison& comparison, bool decide) {
  std::vector<Shown> all;
  for (const auto& one : comparison.cases)
    for (const auto& figure : one.figures)
      if (figure.decides == decide) all.push_back({&one, &figure});
  return all;
}

answer::Tone tone_of(const Figure& figure) {
  if (figure.verdict == Verdict::kRegression) return answer::Tone::kProblem;
  return figure.verdict == Verdict::kInconclusive ? answer::Tone::kWarning : answer::Tone::kPlain;
}

// Lower case where it is only suspected, or no verdict.
std::string verdict_cell(const Figure& figure) {
  if (figure.verdict != Verdict::kInconclusive || figure.decides)
    return std::string(stats::verdict_name(figure.verdict));
  const bool suspected = figure.shows == Verdict::kRegression || figure.shows == Verdict::kImprovement;
  return suspected ? "suspected" : "open";
}

std::string value_head(const Comparison& comparison, std::size_t side) {
  if (side > 0 && comparison.sides.size() > 2) return "other";
  return comparison.sides[side].name;
}

std::string change_cell(const Figure& figure) {
  const auto range = range_words(figure);
  return change_words(figure) + (range.empty() ? "" : " (" + range + ")");
}

answer::Cell value_cell(const Figure& figure, const Number& value) {
  answer::Cell cell(value_words(figure, value));
  if (!value) cell.note = value.reason();
  return cell;
}

answer::Table table_of(const Comparison& comparison, const std::vector<Shown>& figures) {
  answer::Table table{
      .heads = {"case", value_head(comparison, 0), value_head(comparison, 1), "change", "verdict"},
      .numbers_to = 3,
      .labels = 44,
      .stays = 3,
      .last_stays = true,
      .row_heads = true};
  for (const auto& [one, figure] : figures) {
    answer::Row row{.cells = {subject_words(comparison, *one, *figure), value_cell(*figure, figure->a),
                              value_cell(*figure, figure->b), change_cell(*figure), verdict_cell(*figure)},
                    .tone = figure->decides ? tone_of(*figure) : answer::Tone::kPlain};
    table.rows.push_back(std::move(row));
  }
  return table;
}

answer::Section environment_section(const Comparison& comparison) {
  answer::Section section{.title = "Environment"};
  if (comparison.environment.empty()) return section;
  section.table.heads = {"differs", value_head(comparison, 0), value_head(comparison, 1),
                         "may explain a change"};
  section.table.numbers_from = answer::kNoNumbers;
  for (const auto& one : comparison.environment) {
    const auto side =
        comparison.sides.size() > 2 ? fmt::format(" ({})", comparison.sides[one.side].name) : "";
    section.table.add(one.name + side, one.a, one.b, one.blocks ? "yes" : "no");
  }
  return section;
}

// A dot with whiskers per figure, and the margin as a band.
answer::Chart ratio_chart(const Comparison& comparison, const std::vector<Shown>& figures) {
  answer::Chart chart{.id = "ratios", .title = {}, .reading = {}, .metric = {}};
  answer::Plot plot{.x = {.title = "B / A", .from_zero = false}, .height = 0};
  answer::Line dots{.points = {},
                    .stroke = answer::Line::Stroke::kHidden,
                    .mark = answer::Line::Mark::kDot,
                    .text = answer::Line::Text::kRight};
  double margin = 0;
  for (const auto& [one, figure] : figures) {
    if (figure->scale != Scale::kRatio || !figure->change) continue;
    const auto place = static_cast<double>(plot.y.categories.size());
    const auto words = change_with_range(*figure, one->pairing);
    plot.y.categories.push_back(subject_words(comparison, *one, *figure));
    dots.points.push_back({.x = *figure->change,
                           .y = place,
                           .x_low = figure->ci ? figure->ci->low : answer::kMissing,
                           .x_high = figure->ci ? figure->ci->high : answer::kMissing,
                           .hint = words});
    plot.description += plot.y.categories.back() + ": " + words + "; ";
    margin = std::max(margin, figure->delta);
  }
  if (dots.points.empty()) return chart;
  const double count = static_cast<double>(plot.y.categories.size());
  plot.rectangles.push_back({1 / (1 + margin), 1 + margin, -0.5, count - 0.5, "pale",
                             fmt::format("margin of {}", format_percent(margin, 0))});
  plot.lines.push_back({.points = {{1, -0.5}, {1, count - 0.5}}, .stroke = answer::Line::Stroke::kDotted});
  plot.lines.push_back(std::move(dots));
  plot.height = 26 * count + 10;
  chart.reading = fmt::format("Each dot is a ratio B / A with its interval; the band is the margin of {}.",
                              format_percent(margin, 0));
  chart.plots.push_back(std::move(plot));
  return chart;
}

answer::Section cases_section(const Comparison& comparison) {
  const auto figures = figures_that(comparison, true);
  answer::Section section{.title = "Cases", .table = table_of(comparison, figures)};
  for (const auto& side : comparison.sides)
    section.paragraphs.push_back(fmt::format("{}: {}", side.name, side.what));
  section.paragraphs.push_back(
      fmt::format("Measured {}.{}", pairing_words(comparison.pairing),
                  comparison.block_order.empty() ? "" : " Blocks: " + comparison.block_order + "."));
  if (comparison.control)
    section.notes.push_back(fmt::format("Control, which no side can change: {}.", control_words(comparison)));
  return section;
}

answer::Section chart_section(const Comparison& comparison) {
  return {.title = "Ratios", .chart = ratio_chart(comparison, figures_that(comparison, true)), .aside = true};
}

// The case is named once; a single one above the table.
answer::Section others_section(const Comparison& comparison) {
  const auto figures = figures_that(comparison, false);
  answer::Section section{.title = "Other figures", .table = table_of(comparison, figures)};
  auto& table = section.table;
  table.heads.insert(table.heads.begin() + 1, "figure");
  table.numbers_from = 2, table.numbers_to = 4;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    auto& cells = table.rows[i].cells;
    cells.front() = answer::Cell(case_words(comparison, *figures[i].one));
    cells.insert(cells.begin() + 1, answer::Cell(figures[i].figure->title));
  }
  if (comparison.cases.size() > 1) answer::share_labels(table);
  for (std::size_t i = table.rows.size(); i-- > 1;)
    if (figures[i].one == figures[i - 1].one) table.rows[i].cells.front().text.clear();
  if (comparison.cases.size() != 1) return section;
  for (auto& row : table.rows) row.cells.erase(row.cells.begin());
  table.heads.erase(table.heads.begin());
  table.numbers_from = 1, table.numbers_to = 3;
  return section;
}

bool is_proven(const ComparedCase& one) {
  return std::ranges::any_of(one.figures, [](const Figure& figure) {
    return figure.verdict == stats::Verdict::kRegression || figure.verdict == stats::Verdict::kImprovement;
  });
}

void add_reason(const Comparison& comparison, const ComparedCase& one, const std::string& subject,
                const analysis::difference::Explanation& why, answer::Answer& answer) {
  for (auto section : sections_of(why)) {
    section.title = "Why " + subject;
    section.chart.id += fmt::format("-{}", answer.sections.size());
    answer.sections.push_back(std::move(section));
  }
  if (auto finding = finding_of(why)) {
    if (!is_proven(one)) finding->text = "suspected, without a verdict: " + finding->text;
    if (comparison.cases.size() > 1) finding->text = fmt::format("{}: {}", subject, finding->text);
    finding->about.push_back(one.id_b);
    answer.findings.push_back(std::move(*finding));
  }
}

// Explanations of cases that are not equal. Where only layers are missing that nobody asked for, one line
// says how to get them.
void add_reasons(const Comparison& comparison, answer::Answer& answer) {
  std::string no_claim;
  for (const auto& one : comparison.cases) {
    const auto subject = case_words(comparison, one);
    if (one.why && one.why->no_claim.empty())
      add_reason(comparison, one, subject, *one.why, answer);
    else if (one.why)
      no_claim = one.why->no_claim;
    for (const auto& [of, why] : one.further)
      add_reason(comparison, one, fmt::format("{}: {}", subject, of), why, answer);
  }
  if (!no_claim.empty() && answer.findings.empty()) answer.remarks.push_back("not explained: " + no_claim);
}

answer::Section unmatched_section(const Comparison& comparison) {
  answer::Section section{.title = "Without a partner"};
  section.table.heads = {"side", "case"};
  section.table.numbers_from = answer::kNoNumbers;
  for (const auto& one : comparison.unmatched) section.table.add(comparison.sides[one.side].name, one.label);
  return section;
}

}  // namespace

answer::Answer answer_of(const Comparison& comparison) {
  answer::Answer answer;
  std::vector<std::string> names;
  for (const auto& side : comparison.sides) names.push_back(side.name);
  answer.title = fmt::format("comparison of {}: {}", comparison.subject, join(names, ", "));
  answer.sentence = sentence_of(comparison);
  answer.checks = checks_of(comparison);
  for (auto section : {environment_section(comparison), cases_section(comparison), chart_section(comparison),
                       others_section(comparison), unmatched_section(comparison)})
    if (!section.table.rows.empty() || !section.chart.plots.empty() || !section.paragraphs.empty())
      answer.sections.push_back(std::move(section));
  answer.remarks = comparison.remarks;
  add_reasons(comparison, answer);
  answer.data = comparison_json(comparison);
  return answer;
}

}  // namespace paceline::compare
