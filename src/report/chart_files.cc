// SPDX-License-Identifier: MIT
#include "report/chart_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/lower_case.h"
#include "base/text.h"
#include "report/answer_parts.h"
#include "report/chart/plots.h"
#include "report/html_parts.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

constexpr double kFileWidth = 900;

constexpr const char* kNoServer = "no measured case is a server";
// Charts that belong to no subject.
constexpr std::array kChartReasons{
    ChartReason{"latency_comparison", "no measured case has a latency"},
    ChartReason{"throughput_comparison", "no measured case has a throughput"},
    ChartReason{"requests", kNoServer},
    ChartReason{"stages", kNoServer},
    ChartReason{"pareto", "no model has two inference cases with a latency"},
    ChartReason{"speedup", "no case may be compared with a baseline"},
    ChartReason{"memory", "no memory was measured"},
    ChartReason{"peak", "no share of the machine's peak was measured"},
    ChartReason{"roofline", "no case has the peaks of its device, its FLOPs and its bytes"},
    ChartReason{"samples", "no samples are stored"},
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
  std::vector<Chart> charts(2);
  charts[0].id = "latency_comparison", charts[0].plots = latency_plots_of_all_models(runs);
  charts[1].id = "throughput_comparison", charts[1].plots = throughput_plots_of_all_models(runs);
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
  const auto leave_out = [&](std::span<const ChartReason> charts) {
    for (const auto& [chart, why] : charts)
      if (!drawn.contains(chart)) add_to(left_out, std::string(why), std::string(chart));
  };
  leave_out(kChartReasons);
  for (const Subject* subject : kSubjects) leave_out(subject->charts);
  for (const auto& [why, charts] : left_out) out.left_out.push_back(join(charts, ", ") + ": " + why);
  return out;
}

}  // namespace paceline::report
