// SPDX-License-Identifier: MIT
// Plots of a machine that was watched: a chart per unit of CPUs, memory, power, network, disks and GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/display_text.h"
#include "report/chart/plot_parts.h"
#include "report/decimate.h"

namespace paceline::report {
namespace {

constexpr std::size_t kMostReadingsDrawn = 600;  // of a curve; extremes always stay
constexpr std::size_t kMostCurves = 7;           // as many as there are colours

// Between stretches of readings there is nothing. A reading without a neighbour is a dot.
void add_curve(const MachineCourse& course, const MachineCurve& curve, std::size_t index, Plot& plot) {
  Line line{.points = {}, .colour = series_colour(index), .name = on_one_line(curve.name)};
  Line dots{.points = {},
            .colour = series_colour(index),
            .stroke = Line::Stroke::kHidden,
            .mark = Line::Mark::kDot};
  for (std::size_t from = 0; from < curve.values.size();) {
    if (std::isnan(curve.values[from])) {
      ++from;
      continue;
    }
    std::size_t to = from;
    while (to < curve.values.size() && !std::isnan(curve.values[to])) ++to;
    const std::span stretch(curve.values.data() + from, to - from);
    if (stretch.size() == 1) dots.points.push_back({.x = course.times_s[from], .y = stretch[0]});
    const auto share = std::max<std::size_t>(2, kMostReadingsDrawn * stretch.size() / curve.values.size());
    if (!line.points.empty()) line.points.push_back({kMissing, kMissing});
    for (const std::size_t at : decimate(stretch, share))
      line.points.push_back({.x = course.times_s[from + at], .y = stretch[at]});
    from = to;
  }
  if (!line.points.empty()) plot.lines.push_back(std::move(line));
  if (!dots.points.empty()) plot.lines.push_back(std::move(dots));
}

Plot plot_of(const MachineCourse& course, const std::string& chart, const std::string& unit) {
  Plot plot{.title = chart,
            .description = fmt::format("{} of {} over time, in {}", chart, on_one_line(course.host), unit),
            .x = {.title = "time, s"},
            .y = {.title = unit},
            .height = 130,
            .name = chart};
  std::size_t curves = 0;
  for (const auto& curve : course.curves) {
    if (curve.chart != chart || curve.unit != unit || curves++ >= kMostCurves) continue;
    add_curve(course, curve, curves - 1, plot);
  }
  if (curves > kMostCurves) plot.x.title += fmt::format("; the first {} of {}", kMostCurves, curves);
  if (!plot.lines.empty())
    for (const auto& pass : course.passes)
      plot.rectangles.push_back(
          {pass.from_s, pass.to_s, -kEndless, kEndless, "noise", on_one_line(pass.label)});
  return plot;
}

}  // namespace

Plots machine_plots(const MachineCourse& course) {
  Plots plots;
  for (const auto& curve : course.curves)
    if (std::ranges::find(plots, curve.chart, &Plot::title) == plots.end())
      plots.push_back(plot_of(course, curve.chart, curve.unit));
  std::erase_if(plots, [](const Plot& plot) { return plot.lines.empty(); });
  return plots;
}

}  // namespace paceline::report
