// SPDX-License-Identifier: MIT
#include "report/chart_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/lower_case.h"
#include "base/text.h"
#include "report/chart/svg.h"
#include "report/html_parts.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

constexpr double kFileWidth = 900;

// The charts that a run may have, and why one has not.
struct WhyNot {
  std::string_view chart, why;
};
constexpr const char* kNoTraining = "no measured case trained";
constexpr const char* kNoRanks = "no training case may be compared with one of fewer ranks";
constexpr const char* kNoServer = "no measured case is a server";
constexpr const char* kNoSteps = "no case has stored steps of several ranks";
constexpr std::array kChartReasons{
    WhyNot{"latency_comparison", "no measured case has a latency"},
    WhyNot{"throughput_comparison", "no measured case has a throughput"},
    WhyNot{"scaling_efficiency", kNoRanks},
    WhyNot{"scaling_curve", kNoRanks},
    WhyNot{"gpu_scaling", "no inference case may be compared with one of fewer GPUs or processes"},
    WhyNot{"loss_budget", "no training case has the costs of its steps beside one of fewer ranks"},
    WhyNot{"total_time", kNoTraining},
    WhyNot{"step_parts", kNoTraining},
    WhyNot{"loss", "no case trained for two epochs"},
    WhyNot{"timeline", kNoSteps},
    WhyNot{"rank_times", kNoSteps},
    WhyNot{"stragglers", "no case has stored steps in which a rank was late"},
    WhyNot{"collective_bandwidth", "no case is a sweep of collectives"},
    WhyNot{"requests", kNoServer},
    WhyNot{"stages", kNoServer},
    WhyNot{"pareto", "no model has two inference cases with a latency"},
    WhyNot{"speedup", "no case may be compared with a baseline"},
    WhyNot{"memory", "no memory was measured"},
    WhyNot{"peak", "no share of the machine's peak was measured"},
    WhyNot{"roofline", "no case has the peaks of its device, its FLOPs and its bytes"},
    WhyNot{"samples", "no samples are stored"},
    WhyNot{"machine", "the machine was not watched (--monitor)"},
    WhyNot{"device", "no sampler read the clock or the power of a GPU"},
};

std::string file_name(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return !(is_letter_or_digit(c) || c == '-' || c == '.' || c == '_'); }, '_');
  return text;
}

void take_charts(const Sections& sections, std::vector<Chart>& charts) {
  for (const Section& section : sections)
    if (!section.chart.plots.empty()) charts.push_back(section.chart);
}

std::vector<Chart> all_charts(std::span<const ReportRun> runs, const RenderOptions& options) {
  std::vector<Chart> charts;
  take_charts(main_charts(runs), charts);
  take_charts(more_charts(runs), charts);
  for (const Subject* subject : kSubjects)
    if (subject->of_runs) take_charts(subject->of_runs(runs, Form::kPage), charts);
  for (const ReportCase& entry : side_by_side(runs)) {
    const std::size_t first = charts.size();
    charts.push_back(samples_chart(entry, options));
    for (const Subject* subject : kSubjects)
      if (subject->of_case) take_charts(subject->of_case(entry), charts);
    for (std::size_t at = first; at < charts.size() && !entry.letter.empty(); ++at)
      charts[at].of_case = entry.letter + "-" + charts[at].of_case;
  }
  return charts;
}

// "stragglers-resnet50-train-r4", "latency_comparison-resnet50"; numbered where two would be equal.
std::string name_of_file(const Chart& chart, const Plot& plot, std::set<std::string>& taken) {
  std::string name = chart.id;
  if (!chart.of_case.empty()) name += "-" + chart.of_case;
  if (chart.plots.size() > 1) name += "-" + plot.name;
  name = file_name(name);
  std::string free = name;
  for (int number = 2; !taken.insert(free).second; ++number) free = fmt::format("{}-{}", name, number);
  return free;
}

}  // namespace

ChartFiles chart_files(std::span<const ReportRun> runs, const RenderOptions& options) {
  ChartFiles out;
  std::set<std::string> names;
  std::set<std::string, std::less<>> drawn;
  for (const Chart& chart : all_charts(runs, options))
    for (const Plot& plot : chart.plots) {
      auto svg = svg_of(plot, {.width = kFileWidth, .standalone = true});
      if (svg.empty()) continue;
      drawn.insert(chart.id);
      out.files.push_back({name_of_file(chart, plot, names), std::move(svg)});
    }
  Groups left_out;
  for (const auto& [chart, why] : kChartReasons)
    if (!drawn.contains(chart)) add_to(left_out, std::string(why), std::string(chart));
  for (const auto& [why, charts] : left_out) out.left_out.push_back(join(charts, ", ") + ": " + why);
  return out;
}

}  // namespace paceline::report
