// SPDX-License-Identifier: MIT
// Plots of what the GPUs of a case did in its timed windows: their clock, and their power.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/units.h"
#include "report/chart/plot_parts.h"
#include "report/decimate.h"
#include "result/stored/device_state.h"

namespace paceline::report {
namespace {

using result::SampledSeries;
using result::SampledWindow;
using Windows = std::vector<SampledWindow>;

constexpr std::size_t kMostReadings = 400;  // drawn of a device; extremes always stay
constexpr std::size_t kMostDevices = 7;     // as many as there are colours

const Windows& windows_of(const ReportCase& entry) {
  static const Windows kNone;
  if (!entry.run) return kNone;
  const auto found = entry.run->sampled.find(entry.one->case_id);
  return found == entry.run->sampled.end() ? kNone : found->second;
}

// Where each repetition begins on an axis on which one follows the other, in s.
std::map<std::int64_t, double> begins_of(const Windows& windows) {
  std::map<std::int64_t, double> lengths, begins;
  for (const auto& window : windows)
    for (const auto& series : window.series)
      for (const double time : series.times_s)
        lengths[window.repetition] = std::max(lengths[window.repetition], time);
  double sum = 0;
  for (const auto& [repetition, length] : lengths) begins[repetition] = sum, sum += length;
  return begins;
}

std::string device_name(const SampledWindow& window, const SampledSeries& series) {
  return window.rank == 0 ? series.device : fmt::format("{} of rank {}", series.device, window.rank);
}

// One device's readings of all windows; between two of these there is nothing.
struct Course {
  std::vector<double> times_s, values;
  std::vector<std::size_t> ends;  // places behind the last reading of each window
};

std::map<std::string, Course> courses_of(const Windows& windows, std::string_view metric) {
  const auto begins = begins_of(windows);
  std::map<std::string, Course> courses;
  for (const auto& window : windows)
    for (const auto& series : window.series) {
      if (window.sampler != result::kDeviceSampler || series.metric != metric || series.numbers.empty())
        continue;
      auto& course = courses[device_name(window, series)];
      const auto times = result::while_it_ran(series.times_s);
      const auto values = result::while_it_ran(series.numbers);
      for (const double time : times) course.times_s.push_back(begins.at(window.repetition) + time);
      course.values.insert(course.values.end(), values.begin(), values.end());
      course.ends.push_back(course.values.size());
    }
  return courses;
}

Line line_of(const std::string& device, const Course& course, const std::string& unit, std::size_t index) {
  const bool few = course.values.size() <= kMostReadings / 4;
  Line line{.points = {},
            .colour = series_colour(index),
            .mark = few ? Line::Mark::kDot : Line::Mark::kHidden,
            .name = device};
  std::size_t window = 0;
  for (const std::size_t at : decimate(course.values, kMostReadings)) {
    for (; at >= course.ends[window]; ++window) line.points.push_back({kMissing, kMissing});
    line.points.push_back({.x = course.times_s[at], .y = course.values[at]});
    if (few)
      line.points.back().hint =
          fmt::format("{} {}: {} {}", device, format_duration_ns(course.times_s[at] * 1e9),
                      format_significant(course.values[at], 4), unit);
  }
  return line;
}

// A shade from each reading that names a reason to slow down to the next one.
void shade_slowdowns(const Windows& windows, Plot& plot) {
  const auto begins = begins_of(windows);
  for (const auto& window : windows)
    for (const auto& series : window.series) {
      if (window.sampler != result::kDeviceSampler || series.metric != "slowdown") continue;
      const auto times = result::while_it_ran(series.times_s);
      const auto words = result::while_it_ran(series.words);
      for (std::size_t from = 0; from < std::min(times.size(), words.size());) {
        std::size_t to = from + 1;
        while (to < words.size() && words[to] == words[from]) ++to;
        const double begin = begins.at(window.repetition);
        if (words[from] != "none")
          plot.rectangles.push_back({begin + times[from], begin + times[std::min(to, times.size() - 1)],
                                     -kEndless, kEndless, "noise",
                                     fmt::format("{}: {}", device_name(window, series), words[from])});
        from = to;
      }
    }
}

// The limit that all GPUs of the machine share; missing where it is not known.
double power_limit_w(const RunResult& run) {
  std::set<double> limits;
  const auto gpus =
      run.environment.value(nlohmann::json::json_pointer("/nvidia/gpus"), nlohmann::json::array());
  for (const auto& gpu : gpus)
    if (gpu.is_object() && gpu.contains("power_limit_w") && gpu["power_limit_w"].is_number())
      limits.insert(gpu["power_limit_w"].get<double>());
  return limits.size() == 1 ? *limits.begin() : kMissing;
}

Plot course_of(const ReportCase& entry, std::string_view metric, const std::string& unit) {
  const auto& windows = windows_of(entry);
  Plot plot{.description = fmt::format("{} of the GPUs of {} while it was timed, in {}",
                                       metric == "power" ? "Power" : "Clock", name_of(entry), unit),
            .x = {.title = "s in the timed windows, one after the other"},
            .y = {.title = unit, .from_zero = metric == "power"},
            .height = 160};
  const auto courses = courses_of(windows, metric);
  for (const auto& [device, course] : courses)
    if (plot.lines.size() < kMostDevices)
      plot.lines.push_back(line_of(device, course, unit, plot.lines.size()));
  if (courses.size() > kMostDevices)
    plot.x.title += fmt::format("; the first {} of {} GPUs", kMostDevices, courses.size());
  if (!plot.lines.empty()) shade_slowdowns(windows, plot);
  if (!plot.rectangles.empty()) plot.x.title += "; shade: slowed down";
  return plot;
}

}  // namespace

Plots device_plots(const ReportCase& entry) {
  Plots plots{course_of(entry, "sm_clock", "MHz"), course_of(entry, "power", "W")};
  plots[0].name = "clock", plots[1].name = "power";
  const double limit = plots[1].lines.empty() ? kMissing : power_limit_w(entry.run->result);
  if (limit > 0)
    plots[1].lines.push_back({.points = {{-kEndless, limit}, {kEndless, limit}},
                              .stroke = Line::Stroke::kDotted,
                              .name = fmt::format("limit, {} W", format_fixed(limit, 0))});
  std::erase_if(plots, [](const Plot& plot) { return plot.lines.empty(); });
  return plots;
}

}  // namespace paceline::report
