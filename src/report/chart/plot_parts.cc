// SPDX-License-Identifier: MIT
#include "report/chart/plot_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/answer_parts.h"
#include "result/stored/benchmark_params.h"

namespace paceline::report {
namespace {

// Keys as words: "max batch 4"; a variable keeps its name as in a shell.
std::string param_words(std::string_view key, const std::string& value) {
  constexpr std::string_view kVariable = "env.";
  if (key.starts_with(kVariable)) return fmt::format("{}={}", key.substr(kVariable.size()), value);
  std::string words(key);
  std::ranges::replace_if(
      words, [](char c) { return c == '_' || c == '.'; }, ' ');
  return words + " " + value;
}

using Params = std::map<std::string, std::string>;

// Parameters that all cases of the page share distinguish no two lines.
Params params_in_common(const Cases& entries) {
  if (entries.size() < 2) return {};
  Params common = result::parameters_of(entries.front().one->benchmark);
  for (const ReportCase& entry : entries) {
    const auto own = result::parameters_of(entry.one->benchmark);
    std::erase_if(common, [&](const auto& param) { return !std::ranges::count(own, param); });
  }
  return common;
}

std::string series_name(const ReportCase& entry, const Params& common) {
  const result::Benchmark& b = entry.one->benchmark;
  const bool trains = entry.one->training() != nullptr;
  std::string name = trains ? fmt::format("{} r{}", b.precision, b.world_size) : b.engine + " " + b.precision;
  if (b.layout != "contiguous") name += " " + b.layout;
  name = trim(name);
  const bool nameless = name.empty();  // a kind without engines has parameters only
  for (const auto& [key, value] : result::parameters_of(b))
    if (nameless || !common.contains(key)) name += " " + param_words(key, value);
  name = trim(name);
  return entry.letter.empty() ? name : entry.letter + ": " + name;
}

template <class Row>
std::vector<std::string> shared_labels(const std::vector<Row>& rows, Plot& plot) {
  std::vector<std::string> labels;
  for (const Row& row : rows) labels.push_back(row.label);
  return without_shared(labels, plot);
}

// Where long intervals are cut off, so that one does not squeeze every bar.
double whisker_limit(const std::vector<BarRow>& rows) {
  constexpr double kBeyondLongestBar = 1.5;
  double longest = 0;
  for (const BarRow& row : rows)
    if (!std::isnan(row.value.value)) longest = std::max(longest, row.value.value);
  return kBeyondLongestBar * longest;
}

}  // namespace

Measured measured(const result::Estimate& estimate, double scale) {
  return {number_or_missing(estimate.value, scale), number_or_missing(estimate.ci_low, scale),
          number_or_missing(estimate.ci_high, scale)};
}

double number_or_missing(const Number& number, double scale) {
  return number ? *number * scale : kMissing;
}

std::string span_text(const Measured& m, const std::string& unit) {
  const std::string text = fmt::format("{}{}{}", format_significant(m.value), unit.empty() ? "" : " ", unit);
  if (std::isnan(m.low) || std::isnan(m.high)) return text;
  return fmt::format("{} ({})", text, analysis::format_range(m.low, m.high));
}

Cases measured_cases(std::span<const ReportRun> runs, bool (*has)(const CaseResult&)) {
  return cases_with(runs, [&](const CaseResult& one) { return analysis::is_ok(one) && has(one); });
}

std::vector<std::string> models_of(const Cases& cases) {
  std::vector<std::string> models;
  for (const ReportCase& entry : cases) place_of(entry.one->benchmark.model, models);
  return models;
}

std::vector<std::string> series_of(const Cases& all) {
  const auto common = params_in_common(all);
  std::vector<std::string> names;
  for (const ReportCase& entry : all) names.push_back(series_name(entry, common));
  return names;
}

std::string short_label(const ReportCase& entry, const std::string& model) {
  std::string name = name_of(entry);
  const auto found = name.find(model + " ");
  return model.empty() || found == std::string::npos ? name : name.erase(found, model.size() + 1);
}

std::vector<std::string> without_shared(const std::vector<std::string>& names, Plot& plot) {
  auto parts = split_shared(names);
  const auto known = split(plot.title, ' ');
  for (const auto& word : split(parts.shared, ' '))
    if (word != "·" && !word.empty() && std::ranges::find(known, word) == known.end())
      plot.title += (plot.title.empty() ? "" : " · ") + word;
  return parts.own;
}

Plot bar_plot(const std::string& title, const std::string& unit, std::vector<BarRow> rows) {
  Plot plot{.title = title, .x = {.title = unit + keep_first(rows)}};
  const auto labels = shared_labels(rows, plot);
  Line ends{.points = {}, .colour = "ink", .stroke = Line::Stroke::kHidden, .text = Line::Text::kRight};
  const double limit = whisker_limit(rows);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const BarRow& row = rows[at];
    const auto y = static_cast<double>(at);
    plot.y.categories.push_back(labels[at]);
    plot.rectangles.push_back({0, row.value.value, y - 0.3, y + 0.3, "accent", row.hint});
    const bool cut = row.value.high > limit;
    ends.points.push_back({.x = row.value.value,
                           .y = y,
                           .x_low = row.value.low,
                           .x_high = cut ? limit : row.value.high,
                           .text = row.text,
                           .goes_on = cut});
    plot.description += fmt::format("{}{}: {}", at == 0 ? "" : "; ", row.label, row.text);
  }
  plot.lines.push_back(std::move(ends));
  return plot;
}

Plot stacked_plot(const std::string& unit, const std::vector<LegendEntry>& parts,
                  std::vector<StackRow> rows) {
  Plot plot{.x = {.title = unit + keep_first(rows)}, .legend = parts};
  const auto labels = shared_labels(rows, plot);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const auto y = static_cast<double>(at);
    double from = 0;
    plot.y.categories.push_back(labels[at]);
    plot.description += fmt::format("{}{}:", at == 0 ? "" : "; ", rows[at].label);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const double length = rows[at].parts[part];
      if (std::isnan(length)) continue;
      const auto words = fmt::format("{} {} ms", parts[part].name, format_significant(length));
      plot.rectangles.push_back(
          {from, from + length, y - 0.31, y + 0.31, parts[part].colour, rows[at].label + "\n" + words});
      plot.description += fmt::format("{} {}", part == 0 ? "" : ",", words);
      from += length;
    }
  }
  return plot;
}

}  // namespace paceline::report
