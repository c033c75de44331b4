// SPDX-License-Identifier: MIT
// Plots of the samples of a case: their distribution, and their course over time.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/chart/plot_parts.h"
#include "report/decimate.h"
#include "result/metric_table.h"

namespace paceline::report {
namespace {

using result::Sample;

// Points that say what they are; more of them, or those of very many cases, would make the page heavy, and
// their repetition says it.
constexpr std::size_t kMostHints = 200, kFewestWithHints = 60;

// Samples behind the statistics: no warm-up, no lost requests.
std::vector<Sample> samples_of(const ReportCase& entry) {
  const auto found = entry.run->samples.find(entry.one->case_id);
  if (found == entry.run->samples.end()) return {};
  std::vector<Sample> samples = found->second;
  std::erase_if(samples, [](const Sample& sample) { return !sample.counts() || sample.lost(); });
  return samples;
}

std::vector<double> milliseconds(const std::vector<Sample>& samples) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(static_cast<double>(sample.host_ns) * kNsToMs);
  return values;
}

Line upright(double at, Line::Stroke stroke, const std::string& text) {
  return {.points = {{at, 0}, {.x = at, .y = kEndless, .text = text}}, .stroke = stroke};
}

Plot distribution_plot(const ReportCase& entry, const std::string& title, const std::vector<double>& values) {
  const Histogram h = histogram(values);
  Plot plot{.title = title,
            .description =
                fmt::format("Distribution of {} of {}", plural(std::ssize(values), "sample"), name_of(entry)),
            .x = {.title = "time, ms", .from_zero = false},
            .y = {.title = "samples", .whole = true},
            .height = 200};
  if (h.beyond > 0)
    plot.x.title += fmt::format(" ({} of {} lie beyond the right edge)", h.beyond, values.size());
  for (std::size_t bin = 0; bin < h.counts.size(); ++bin) {
    const double from = h.low + static_cast<double>(bin) * h.bin_width, to = from + h.bin_width;
    if (h.counts[bin] > 0)
      plot.rectangles.push_back({from, to, 0, static_cast<double>(h.counts[bin]), "accent",
                                 fmt::format("{} from {} to {} ms", plural(h.counts[bin], "sample"),
                                             format_significant(from, 4), format_significant(to, 4))});
  }
  const CaseResult& one = *entry.one;
  if (one.headline.p50_ns.value)
    plot.lines.push_back(upright(*one.headline.p50_ns.value * kNsToMs, Line::Stroke::kSolid, "p50"));
  const auto p99 = result::find_metric("p99_ms")->get(one).value;
  if (p99 && p99_reason(one).empty()) plot.lines.push_back(upright(*p99, Line::Stroke::kDotted, "p99"));
  return plot;
}

// Where the samples of a repetition stand among all.
struct Stretch {
  const result::Repetition* repetition;
  double from, to;
};

std::vector<Stretch> stretches_of(const CaseResult& one, const std::vector<Sample>& samples) {
  std::vector<Stretch> stretches;
  for (const auto& repetition : one.repetitions) {
    std::size_t first = samples.size(), last = 0;
    for (std::size_t at = 0; at < samples.size(); ++at)
      if (samples[at].repetition == repetition.index) first = std::min(first, at), last = at;
    if (first < samples.size())
      stretches.push_back({&repetition, static_cast<double>(first + 1), static_cast<double>(last + 1)});
  }
  return stretches;
}

std::string stretch_words(const Stretch& s) {
  return fmt::format("process {}: samples {} to {}, p50 {}{}{}", s.repetition->index + 1, s.from, s.to,
                     s.repetition->p50_ns ? format_duration_ns(*s.repetition->p50_ns) : "none",
                     s.repetition->noise.warnings.empty() ? "" : "\n",
                     join(s.repetition->noise.warnings, "\n"));
}

// Every process in turn: its samples, its median, and a shade where noise was seen.
Plot course_plot(const ReportCase& entry, const std::vector<Sample>& samples,
                 const std::vector<double>& values, std::size_t max_points) {
  const auto kept = decimate(values, max_points);
  Plot plot{.description = "Latencies over time of " + name_of(entry),
            .x = {.title = "sample; lines are medians", .from_zero = false},
            .y = {.title = "time, ms", .from_zero = false},
            .height = 200};
  Line medians{.points = {}};
  bool noisy = false;
  for (const Stretch& s : stretches_of(*entry.one, samples)) {
    const bool noise = !s.repetition->noise.warnings.empty();
    noisy = noisy || noise;
    plot.rectangles.push_back(
        {s.from - 0.5, s.to + 0.5, -kEndless, kEndless, noise ? "noise" : "unseen", stretch_words(s)});
    const double p50 = number_or_missing(s.repetition->p50_ns, kNsToMs);
    for (const Point& p : {Point{s.from, p50}, Point{s.to, p50}, Point{kMissing, kMissing}})
      medians.points.push_back(p);
  }
  if (noisy) plot.x.title += ", shade is noise";
  Line dots[2];
  for (std::size_t parity = 0; parity < 2; ++parity)
    dots[parity] = {.points = {},
                    .colour = parity == 0 ? "c0" : "c5",
                    .stroke = Line::Stroke::kHidden,
                    .mark = Line::Mark::kDot};
  for (const std::size_t at : kept) {
    const auto process = samples[at].repetition + 1;
    Point p{static_cast<double>(at + 1), values[at]};
    if (kept.size() <= kMostHints && max_points >= kFewestWithHints)
      p.hint =
          fmt::format("process {}, sample {}: {} ms", process, at + 1, format_significant(values[at], 5));
    dots[static_cast<std::size_t>(process % 2)].points.push_back(std::move(p));
  }
  plot.lines = {std::move(dots[0]), std::move(dots[1]), std::move(medians)};
  return plot;
}

}  // namespace

// Draws the first servers; the others are drawn with their cases.
Plots request_plots(std::span<const ReportRun> runs) {
  Plots plots;
  for (const ReportCase& entry : measured_cases(
           runs, [](const CaseResult& c) { return traits_of(c.benchmark.scenario).has_queue && c.load(); })) {
    const auto samples = samples_of(entry);
    if (samples.empty() || plots.size() == kServersDrawn) continue;
    plots.push_back(distribution_plot(entry, name_of(entry), milliseconds(samples)));
    plots.back().name = entry.one->case_id;
  }
  return plots;
}

Plots sample_plots(const ReportCase& entry, std::size_t max_points) {
  const auto samples = samples_of(entry);
  if (samples.empty()) return {};
  const auto values = milliseconds(samples);
  Plots plots{distribution_plot(entry, "", values), course_plot(entry, samples, values, max_points)};
  plots[0].name = "distribution", plots[1].name = "course";
  return plots;
}

}  // namespace paceline::report
