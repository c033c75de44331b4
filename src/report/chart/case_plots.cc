// SPDX-License-Identifier: MIT
// Plots of cases beside each other: latency, throughput, speed-up, memory, share of the peak, stages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/chart/plot_parts.h"
#include "report/html_parts.h"
#include "result/figures/peak_memory.h"

namespace paceline::report {
namespace {

// One figure of all cases: what it is, its unit, and the names of the series of `cases`.
struct Figure {
  Cases cases;
  Measured (*of)(const CaseResult&);
  std::string name, unit;
  [[nodiscard]] std::string axis() const { return name + ", " + unit; }
  std::vector<std::string> series{};
};

std::size_t index_in(const std::vector<std::string>& texts, const std::string& text) {
  return static_cast<std::size_t>(std::ranges::find(texts, text) - texts.begin());
}

// At one batch size there is no line: a bar per case with its interval, and its figures beside it.
Plot bars_of(const Figure& figure, const std::string& model, const Cases& cases) {
  std::vector<BarRow> rows;
  for (const ReportCase& entry : cases) {
    const Measured m = figure.of(*entry.one);
    const std::string words = span_text(m, figure.unit);
    rows.push_back({short_label(entry, model), name_of(entry) + "\n" + words, words, m});
  }
  return bar_plot(model, figure.axis(), std::move(rows));
}

// Batches stand at equal steps; series are set a little apart, so that intervals do not hide each other.
Plot lines_of(const Figure& figure, const std::string& model, Cases cases,
              const std::vector<std::int64_t>& batches) {
  std::vector<std::string> names, present;
  for (const auto& name : figure.series) place_of(name, names);
  Plot plot{.title = model, .x = {.title = "batch size"}, .y = {.title = figure.axis()}};
  for (const auto batch : batches) plot.x.categories.push_back(std::to_string(batch));
  std::ranges::stable_sort(cases, {}, [](const ReportCase& e) { return e.one->benchmark.batch_per_rank; });
  const auto series = [&](const ReportCase& entry) {
    const auto found = std::ranges::find(figure.cases, entry.one, &ReportCase::one);
    return figure.series[static_cast<std::size_t>(found - figure.cases.begin())];
  };
  for (const ReportCase& entry : cases) place_of(series(entry), present);
  const auto shown = without_shared(present, plot);
  for (const auto& name : present) {
    const auto index = index_in(names, name);
    const double offset =
        0.05 * (static_cast<double>(plot.lines.size()) - static_cast<double>(present.size() - 1) / 2);
    plot.lines.push_back({.points = {},
                          .colour = series_colour(index),
                          .mark = series_mark(index),
                          .name = shown[plot.lines.size()]});
    for (const ReportCase& entry : cases) {
      if (series(entry) != name) continue;
      const Measured m = figure.of(*entry.one);
      const auto place = std::ranges::find(batches, entry.one->benchmark.batch_per_rank) - batches.begin();
      const auto words = span_text(m, figure.unit);
      plot.lines.back().points.push_back({.x = static_cast<double>(place) + offset,
                                          .y = m.value,
                                          .y_low = m.low,
                                          .y_high = m.high,
                                          .hint = name_of(entry) + "\n" + words});
      plot.description += fmt::format("{}{} {}", plot.description.empty() ? "" : "; ", name_of(entry), words);
    }
  }
  return plot;
}

// One plot per model; the same series keeps its colour and mark in all of them.
Plots over_batch(const Figure& figure) {
  Plots plots;
  for (const auto& model : models_of(figure.cases)) {
    Cases cases = figure.cases;
    std::erase_if(cases, [&](const ReportCase& e) { return e.one->benchmark.model != model; });
    std::set<std::int64_t> batches;
    for (const ReportCase& entry : cases) batches.insert(entry.one->benchmark.batch_per_rank);
    plots.push_back(batches.size() == 1 ? bars_of(figure, model, cases)
                                        : lines_of(figure, model, cases, {batches.begin(), batches.end()}));
    plots.back().name = model;
  }
  return plots;
}

// The speed-up of one case in words.
std::string speedup_words(const ReportCase& entry) {
  const auto& s = entry.one->speedup;
  const CaseResult* baseline = analysis::find_case(entry.run->result, s.baseline_case_id);
  return fmt::format("{}\n{} of {}\n{}", name_of(entry), span_text(measured(s.ratio), "x"),
                     baseline ? baseline->label : s.baseline_case_id,
                     analysis::may_claim(s) ? fmt::format("{} process pairs", s.pairs)
                                            : fmt::format("no claim ({} pairs)", s.pairs));
}

// Cases that no other case of their model beats in latency and throughput, of all runs.
std::set<const CaseResult*> fronts(std::span<const ReportRun> runs, const std::string& model) {
  std::set<const CaseResult*> found;
  for (const ReportRun& run : runs)
    for (const auto* best : analysis::pareto_front(run.result, model)) found.insert(best);
  return found;
}

Point pareto_point(const ReportCase& entry, bool few, bool on_front, const std::string& unit) {
  const Measured p50 = measured(entry.one->headline.p50_ns, kNsToMs),
                 rate = measured(entry.one->throughput.per_s);
  Point p{.x = p50.value, .y = rate.value, .hollow = !on_front};
  p.hint = fmt::format("{}\n{}, {}", name_of(entry), span_text(p50, "ms"), span_text(rate, unit));
  if (const auto cost = accuracy_text(*entry.one); !cost.empty()) p.hint += "\n" + cost;
  if (!few) return p;
  p.x_low = p50.low, p.x_high = p50.high, p.y_low = rate.low, p.y_high = rate.high;
  p.text = fmt::format("b{}", entry.one->benchmark.batch_per_rank);
  return p;
}

// Very many marks have neither intervals nor batch sizes beside them, which would hide each other.
Plot pareto_plot(const std::string& model, const Cases& cases, const std::vector<std::string>& series,
                 const std::set<const CaseResult*>& front, const std::string& unit) {
  std::vector<std::string> names;
  Plot plot{.title = model,
            .description = "Throughput against latency of " + model,
            .x = {.title = "p50 latency, ms", .scale = Axis::Scale::kLog10},
            .y = {.title = "throughput, " + unit},
            .lines = {{.points = {}, .colour = "soft", .stroke = Line::Stroke::kDotted}}};
  plot.name = model;
  const bool few = cases.size() <= kMostDrawn;
  for (std::size_t at = 0; at < cases.size(); ++at) {
    const auto index = place_of(series[at], names);
    if (index + 2 > plot.lines.size())
      plot.lines.push_back({.points = {},
                            .colour = series_colour(index),
                            .stroke = Line::Stroke::kHidden,
                            .mark = series_mark(index),
                            .name = series[at]});
    const bool best = front.contains(cases[at].one);
    plot.lines[index + 1].points.push_back(pareto_point(cases[at], few, best, unit));
    const Point& p = plot.lines[index + 1].points.back();
    if (best) plot.lines[0].points.push_back({.x = p.x, .y = p.y});
  }
  std::ranges::sort(plot.lines[0].points, {}, &Point::x);
  const auto shown = without_shared(names, plot);
  for (std::size_t at = 0; at < shown.size(); ++at) plot.lines[at + 1].name = shown[at];
  return plot;
}

// The time of an inference, of a training step, or of both.
Figure latencies(std::span<const ReportRun> runs) {
  const Cases cases = measured_cases(runs, [](const CaseResult& c) { return bool{c.headline.p50_ns.value}; });
  const auto steps = std::ranges::count_if(cases, [](const auto& e) { return e.one->training() != nullptr; });
  const char* name = steps == 0 ? "p50 latency" : steps == std::ssize(cases) ? "p50 step time" : "p50 time";
  return {cases, [](const CaseResult& c) { return measured(c.headline.p50_ns, kNsToMs); }, name, "ms",
          series_of(cases)};
}

Figure throughputs(std::span<const ReportRun> runs) {
  const Cases cases =
      measured_cases(runs, [](const CaseResult& c) { return bool{c.throughput.per_s.value}; });
  return {cases, [](const CaseResult& c) { return measured(c.throughput.per_s); }, "throughput",
          throughput_head(cases), series_of(cases)};
}

// One plot of several models, which have one each besides.
Plots of_all_models(const Figure& figure) {
  if (models_of(figure.cases).size() < 2) return {};
  return {bars_of(figure, "", figure.cases)};
}

}  // namespace

Plots latency_plots(std::span<const ReportRun> runs) {
  return over_batch(latencies(runs));
}

Plots throughput_plots(std::span<const ReportRun> runs) {
  return over_batch(throughputs(runs));
}

Plots latency_plots_of_all_models(std::span<const ReportRun> runs) {
  return of_all_models(latencies(runs));
}

Plots throughput_plots_of_all_models(std::span<const ReportRun> runs) {
  return of_all_models(throughputs(runs));
}

Plots pareto_plots(std::span<const ReportRun> runs) {
  const Cases all = measured_cases(runs, [](const CaseResult& c) {
    return !c.training() && c.headline.p50_ns.value && c.throughput.per_s.value;
  });
  const auto series = series_of(all);
  Plots plots;
  for (const auto& model : models_of(all)) {
    Cases cases;
    std::vector<std::string> names;
    for (std::size_t at = 0; at < all.size(); ++at)
      if (all[at].one->benchmark.model == model) cases.push_back(all[at]), names.push_back(series[at]);
    if (cases.size() > 1)
      plots.push_back(pareto_plot(model, cases, names, fronts(runs, model), throughput_head(all)));
  }
  return plots;
}

Plots speedup_plots(std::span<const ReportRun> runs) {
  Cases cases = measured_cases(runs, is_compared);
  if (cases.empty()) return {};
  Plot plot{.description = "Speed-up over the baseline of each case, with interval"};
  plot.x = {.title = "time of baseline / time, 1 is equal" + keep_first(cases),
            .from_zero = false,
            .low = 0.9,
            .high = 1.1};
  plot.lines = {
      {.points = {{1, -kEndless}, {1, kEndless}}, .stroke = Line::Stroke::kDotted},
      {.points = {}, .colour = "accent", .stroke = Line::Stroke::kHidden, .mark = Line::Mark::kCircle}};
  for (const ReportCase& entry : cases) {
    const Measured ratio = measured(entry.one->speedup.ratio);
    plot.lines[1].points.push_back({.x = ratio.value,
                                    .y = static_cast<double>(plot.y.categories.size()),
                                    .x_low = ratio.low,
                                    .x_high = ratio.high,
                                    .hint = speedup_words(entry),
                                    .hollow = !analysis::may_claim(entry.one->speedup)});
    plot.y.categories.push_back(name_of(entry));
  }
  plot.y.categories = without_shared(plot.y.categories, plot);
  return {plot};
}

// Memory of a case on a device beside that in tensors: ", 738 MB reserved, 424 MB on the host".
std::string memory_aside(const CaseResult& one) {
  if (!result::on_device(one.benchmark)) return {};
  const auto aside = [](const Count& bytes, std::string_view words) {
    return bytes ? fmt::format(", {} {}", format_bytes(static_cast<double>(*bytes)), words) : std::string();
  };
  return (result::is_drivers_memory(one) ? ", as the driver says" : "") +
         aside(one.memory.reserved_peak_bytes, "reserved") +
         aside(one.memory.rss_peak_above_load_bytes, "on the host");
}

// Engines that do not tell what their tensors hold have the driver's figure.
std::string gpu_memory_head(const Cases& cases) {
  const bool drivers =
      std::ranges::any_of(cases, [](const auto& e) { return result::is_drivers_memory(*e.one); });
  return drivers ? "MB of GPU memory" : "MB of GPU memory in tensors";
}

// Memory of devices and of hosts is never on one axis.
Plots memory_plots(std::span<const ReportRun> runs) {
  const Cases cases = measured_cases(runs, [](const CaseResult& c) { return bool{result::peak_memory(c)}; });
  std::map<bool, std::vector<BarRow>> places;  // by whether it is a device's
  for (const ReportCase& entry : cases) {
    const double mb = static_cast<double>(*result::peak_memory(*entry.one)) * 1e-6;
    const auto words = format_significant(mb) + " MB";
    places[result::on_device(entry.one->benchmark)].push_back(
        {name_of(entry),
         name_of(entry) + ": " + words + memory_aside(*entry.one),
         words,
         {mb, kMissing, kMissing}});
  }
  Plots plots;
  for (auto& [device, rows] : places) {
    plots.push_back(bar_plot("", device ? gpu_memory_head(cases) : "memory, MB above the state before load",
                             std::move(rows)));
    if (places.size() > 1) plots.back().name = device ? "GPU" : "host";
  }
  return plots;
}

Plots peak_plots(std::span<const ReportRun> runs) {
  std::vector<BarRow> rows;
  for (const ReportCase& entry :
       measured_cases(runs, [](const CaseResult& c) { return bool{c.flops.share_of_measured_peak}; })) {
    const double percent = *entry.one->flops.share_of_measured_peak * 100;
    const auto words = fmt::format("{} %", format_fixed(percent, 0));
    rows.push_back({name_of(entry), name_of(entry) + ": " + words, words, {percent, kMissing, kMissing}});
  }
  if (rows.empty()) return {};
  Plot plot = bar_plot("", "% of the measured peak", std::move(rows));
  plot.lines.push_back({.points = {{100, -kEndless}, {100, kEndless}}, .stroke = Line::Stroke::kDotted});
  return {plot};
}

Plots stage_plots(std::span<const ReportRun> runs) {
  constexpr std::array kColours{1, 4, 0, 2, 5, 6, 3};
  std::vector<std::string> names;
  std::vector<StackRow> rows;
  const Cases cases = measured_cases(runs, [](const CaseResult& c) {
    return traits_of(c.benchmark.scenario).has_queue && c.load() && !c.load()->stages.empty();
  });
  for (const ReportCase& entry : cases)
    for (const auto& stage : entry.one->load()->stages) place_of(stage.name, names);
  for (const ReportCase& entry : cases) {
    rows.push_back({name_of(entry), std::vector<double>(names.size(), kMissing)});
    for (const auto& stage : entry.one->load()->stages)
      rows.back().parts[index_in(names, stage.name)] = number_or_missing(stage.mean_ns, kNsToMs);
  }
  if (rows.empty()) return {};
  std::vector<LegendEntry> legend;
  for (std::size_t at = 0; at < names.size(); ++at)
    legend.push_back({names[at], fmt::format("c{}", kColours.at(at % kColours.size()))});
  return {stacked_plot("ms of a request", legend, std::move(rows))};
}

}  // namespace paceline::report
