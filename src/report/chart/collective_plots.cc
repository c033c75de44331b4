// SPDX-License-Identifier: MIT
// Plots the bus bandwidth of collectives by size: measured, fitted, and what was asked for.
#include "report/chart/collective_plots.h"

#include <fmt/format.h>

#include "answer/render/ticks.h"
#include "base/units.h"
#include "report/chart/plot_parts.h"
#include "result/figures/summarize_collective.h"

namespace paceline::report {
namespace {

Line measured_line(const ReportCase& entry, std::size_t index, const std::string& name) {
  Line line{.points = {},
            .colour = series_colour(index),
            .stroke = Line::Stroke::kHidden,
            .mark = series_mark(index),
            .name = name};
  for (const auto& size : entry.one->collective()->sizes) {
    const Measured rate = measured(size.out_of_place.sync_busbw_gb_per_s);
    line.points.push_back(
        {.x = static_cast<double>(size.bytes),
         .y = rate.value,
         .y_low = rate.low,
         .y_high = rate.high,
         .hint = fmt::format("{}\n{}: {}\n{}", name_of(entry), binary_bytes(static_cast<double>(size.bytes)),
                             span_text(rate, "GB/s"),
                             span_text(measured(size.out_of_place.sync_ns, 1e-3), "us"))});
  }
  return line;
}

Line fitted_line(const ReportCase& entry, std::size_t index) {
  Line line{.points = {}, .colour = series_colour(index), .stroke = Line::Stroke::kDotted};
  const auto& c = *entry.one->collective();
  for (const auto& size : c.sizes)
    line.points.push_back(
        {static_cast<double>(size.bytes), number_or_missing(result::fitted_busbw(c, size.bytes))});
  return line;
}

Line asked_line(const ReportCase& entry, std::size_t index, const std::string& name) {
  Line line{.points = {},
            .colour = series_colour(index),
            .stroke = Line::Stroke::kHidden,
            .mark = Line::Mark::kTriangle,
            .name = "asked for: " + name};
  for (const auto& least : entry.one->collective()->least_busbw)
    line.points.push_back(
        {.x = static_cast<double>(least.bytes),
         .y = least.gb_per_s,
         .hint = fmt::format("{}\nat least {} GB/s at {}", name_of(entry), format_significant(least.gb_per_s),
                             binary_bytes(static_cast<double>(least.bytes))),
         .hollow = true});
  return line;
}

}  // namespace

Plots collective_plots(const Cases& all) {
  Cases cases = all;
  Plot plot{.description = "Bus bandwidth by size",
            .x = {.title = "size of a message" + keep_first(cases),
                  .scale = Axis::Scale::kDoubling,
                  .numbers = Axis::Numbers::kBytes},
            .y = {.title = "bus bandwidth, GB/s"}};
  std::vector<std::string> names;
  for (const ReportCase& entry : cases) names.push_back(name_of(entry));
  names = without_shared(names, plot);
  for (std::size_t at = 0; at < cases.size(); ++at) {
    plot.lines.push_back(fitted_line(cases[at], at));
    plot.lines.push_back(measured_line(cases[at], at, names[at]));
    if (!cases[at].one->collective()->least_busbw.empty())
      plot.lines.push_back(asked_line(cases[at], at, names[at]));
  }
  return {plot};
}

}  // namespace paceline::report
