// SPDX-License-Identifier: MIT
// Plots of the steps of ranks: timelines of one step, times of each rank, and which rank is late when.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/units.h"
#include "report/chart/plot_parts.h"
#include "report/step_view.h"

namespace paceline::report {
namespace {

constexpr double kSeen = 0.001;  // of all time: shorter parts are not in the legend

const StepView* view_of(const ReportCase& entry) {
  const auto found =
      entry.run ? entry.run->steps.find(entry.one->case_id) : decltype(entry.run->steps.end()){};
  return entry.run && found != entry.run->steps.end() && !found->second.empty() ? &found->second : nullptr;
}

std::string rank_name(std::int64_t rank) {
  return fmt::format("rank {}", rank);
}

// From the end of one exchange of gradients to the end of the next.
Plot timeline(const StepView& view, const result::StepAccount& step, const std::string& title) {
  Plot plot{.title = title, .description = title, .x = {.title = "ms since the end of the exchange before"}};
  std::vector<LegendEntry> parts;
  for (const auto part : result::kOwnParts)
    parts.push_back({traits_of(part).late_in, traits_of(part).colour});
  parts.push_back({"waits for late ranks", "h3"});
  parts.push_back({"communication", "c1"});
  std::vector<double> sums(parts.size(), 0.0);
  std::vector<double> own;
  for (const auto& rank : step.ranks) own.push_back(rank.own_sum());
  for (const std::size_t r : largest_of(own, kMostRanksDrawn)) {
    const auto row = static_cast<double>(plot.y.categories.size());
    const auto& by_part = step.ranks[r].own.values;
    std::vector<double> lengths(by_part.begin(), by_part.end());
    lengths.insert(lengths.end(), {step.ranks[r].straggler_wait, step.ranks[r].communication});
    plot.y.categories.push_back(rank_name(view.ranks[r]));
    double from = 0;
    for (std::size_t part = 0; part < lengths.size(); ++part) {
      const double length = std::max(0.0, lengths[part]) * kNsToMs;
      const auto& entry = parts[part];
      sums[part] += length;
      if (length > 0)
        plot.rectangles.push_back(
            {from, from + length, row - 0.36, row + 0.36, entry.colour,
             fmt::format("{}: {} {} ms", plot.y.categories.back(), entry.name, format_significant(length))});
      from += length;
    }
  }
  for (std::size_t part = 0; part < parts.size(); ++part)
    if (sums[part] > kSeen * std::accumulate(sums.begin(), sums.end(), 0.0))
      plot.legend.push_back(parts[part]);
  if (view.ranks.size() > kMostRanksDrawn)
    plot.x.title += fmt::format("; the {} ranks of {} that take longest", kMostRanksDrawn, view.ranks.size());
  return plot;
}

// Eight levels up to the value that 99 % of the late cells stay below; cells that are on time have none.
struct Levels {
  double top = 0;
  explicit Levels(std::vector<double> values) {
    std::erase_if(values, [](double v) { return v <= 0; });
    std::ranges::sort(values);
    if (!values.empty()) top = values[(values.size() - 1) * 99 / 100];
  }
  [[nodiscard]] int of(double value) const {
    return value <= 0 || top <= 0 ? 0 : std::clamp(static_cast<int>(std::ceil(value / top * 8)), 1, 8);
  }
};

double start_of(const LatenessMap& map, std::size_t column) {
  return static_cast<double>(column < map.columns ? map.first_step[column] : map.last_step + 1);
}

// Cells of one row and level that touch are one rectangle.
void add_cells(Plot& plot, const LatenessMap& map, const Levels& levels, int level) {
  for (std::size_t row = 0; row < map.rows; ++row)
    for (std::size_t column = 0, from = 0; column <= map.columns; ++column) {
      const auto is = [&](std::size_t at) { return levels.of(map.late_ns[row * map.columns + at]) == level; };
      if (column < map.columns && is(column)) continue;
      if (from < column)
        plot.rectangles.push_back({start_of(map, from), start_of(map, column), static_cast<double>(row) - 0.5,
                                   static_cast<double>(row) + 0.5, fmt::format("h{}", level)});
      from = column + 1;
    }
}

std::string row_words(const LatenessMap& map, std::size_t row) {
  const auto begin = map.late_ns.begin() + static_cast<std::ptrdiff_t>(row * map.columns);
  const auto worst = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(map.columns));
  return fmt::format("{}: most {} ms late, at step {}", rank_name(map.first_rank[row]),
                     format_significant(*worst * kNsToMs),
                     map.first_step[static_cast<std::size_t>(worst - begin)]);
}

}  // namespace

Plots timeline_plots(const ReportCase& entry) {
  const StepView* view = view_of(entry);
  if (!view) return {};
  const auto title = [](const char* which, const result::StepAccount& step, double ns) {
    return fmt::format("The {} step ({}): {} ms", which, step.step, format_significant(ns * kNsToMs));
  };
  Plots plots{timeline(*view, view->typical, title("typical", view->typical, view->typical_ns)),
              timeline(*view, view->worst, title("longest", view->worst, view->worst_ns))};
  plots[0].name = "typical", plots[1].name = "worst";
  for (Plot& plot : plots) plot.x.high = std::max(view->typical_ns, view->worst_ns) * kNsToMs;
  return plots;
}

Plots rank_time_plots(const ReportCase& entry) {
  const StepView* view = view_of(entry);
  if (!view) return {};
  Plot plot{.description = "Own time of each rank",
            .x = {.title = "ms until its gradients are ready; box: half of the steps, whiskers: 90 %",
                  .from_zero = false}};
  Line spread{.points = {}, .colour = "soft", .stroke = Line::Stroke::kHidden}, medians = spread;
  medians.colour = "ink", medians.mark = Line::Mark::kDiamond;
  for (const OwnTimes& own : view->own) {
    const auto row = static_cast<double>(plot.y.categories.size());
    plot.y.categories.push_back(rank_name(own.rank));
    const auto words =
        fmt::format("{}: median {} ms, half of its steps from {} to {} ms", plot.y.categories.back(),
                    format_significant(own.median * kNsToMs), format_significant(own.p25 * kNsToMs),
                    format_significant(own.p75 * kNsToMs));
    plot.rectangles.push_back({own.p25 * kNsToMs, own.p75 * kNsToMs, row - 0.28, row + 0.28, "c5", words});
    spread.points.push_back({.x = own.p25 * kNsToMs, .y = row, .x_low = own.p5 * kNsToMs});
    spread.points.push_back({.x = own.p75 * kNsToMs, .y = row, .x_high = own.p95 * kNsToMs});
    medians.points.push_back({.x = own.median * kNsToMs, .y = row, .hint = words});
    plot.description += "; " + words;
  }
  plot.lines = {spread, medians};
  return {plot};
}

Plots straggler_plots(const ReportCase& entry) {
  const StepView* view = view_of(entry);
  if (!view) return {};
  const LatenessMap& map = view->late;
  const Levels levels(map.late_ns);
  if (levels.top <= 0) return {};
  Plot plot{.description = "How late each rank is in each step"};
  plot.x = {.title = "step",
            .from_zero = false,
            .whole = true,
            .low = start_of(map, 0),
            .high = start_of(map, map.columns)};
  for (std::size_t row = 0; row < map.rows; ++row)
    plot.y.categories.push_back(rank_name(map.first_rank[row]));
  plot.height = std::clamp(static_cast<double>(map.rows) * 20, 60.0, 460.0);
  for (int level = 1; level <= 8; ++level) add_cells(plot, map, levels, level);
  for (std::size_t row = 0; row < map.rows; ++row)
    plot.rectangles.push_back({-kEndless, kEndless, static_cast<double>(row) - 0.5,
                               static_cast<double>(row) + 0.5, "unseen", row_words(map, row)});
  for (const int level : {1, 4, 8})
    plot.legend.push_back(
        {fmt::format("up to {} ms late{}", format_significant(levels.top * level / 8 * kNsToMs, 2),
                     level == 8 ? " and more" : ""),
         fmt::format("h{}", level)});
  return {plot};
}

}  // namespace paceline::report
