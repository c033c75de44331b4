// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "report/chart/plots.h"
#include "result/stored/estimate.h"

// Common parts of charts: bars of cases, names of series, words of intervals.
namespace paceline::report {

inline constexpr double kNsToMs = 1e-6;
inline constexpr std::size_t kMostDrawn = 60;  // cases with a row or a line each; the tables have all

// A number with its interval; NaN where it is missing.
struct Measured {
  double value = kMissing, low = kMissing, high = kMissing;
};
Measured measured(const result::Estimate& estimate, double scale = 1);
double number_or_missing(const Number& number, double scale = 1);
std::string span_text(const Measured& measured, const std::string& unit);  // "54.1 ms (53.0–58.9)"

Cases measured_cases(std::span<const ReportRun> runs, bool (*has)(const CaseResult&));

// Models in the order in which they appear.
std::vector<std::string> models_of(const Cases& cases);
// Engine, precision and whatever else tells the lines of one chart apart; not what all cases have alike.
std::vector<std::string> series_of(const Cases& all);
// The label without the model, which is above the chart.
std::string short_label(const ReportCase& entry, const std::string& model);
// The names of rows or lines without the words that all of them have. The plot's title gets these words, each
// once.
std::vector<std::string> without_shared(const std::vector<std::string>& names, Plot& plot);

// A bar per row with its interval; its words are next to it.
struct BarRow {
  std::string label, hint, text;
  Measured value;
};
Plot bar_plot(const std::string& title, const std::string& unit, std::vector<BarRow> rows);

// A bar per row of parts one after the other; a missing part has no length.
struct StackRow {
  std::string label;
  std::vector<double> parts;
};
Plot stacked_plot(const std::string& unit, const std::vector<LegendEntry>& parts, std::vector<StackRow> rows);

// The first rows, and in the axis' title how many there are.
template <class Row>
std::string keep_first(std::vector<Row>& rows) {
  if (rows.size() <= kMostDrawn) return {};
  const auto all = rows.size();
  rows.erase(rows.begin() + kMostDrawn, rows.end());
  return "; the first " + std::to_string(kMostDrawn) + " of " + std::to_string(all) + ", the tables have all";
}

}  // namespace paceline::report
