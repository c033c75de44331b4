// SPDX-License-Identifier: MIT
// Says in one line per chart what it shows.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/chart/plots.h"
#include "report/html_parts.h"
#include "report/roofline.h"
#include "result/figures/peak_memory.h"
#include "result/figures/summarize_load.h"

namespace paceline::report {
namespace {

// Measured cases that have a figure.
template <typename Figure>
Cases having(std::span<const ReportRun> runs, const Figure& figure) {
  return cases_with(runs, [&](const CaseResult& one) { return analysis::is_ok(one) && figure(one); });
}

// Says something of the first case with the highest figure; nothing where no case has it.
template <typename Figure, typename Words>
std::string of_highest(std::span<const ReportRun> runs, const Figure& figure, const Words& words) {
  const Cases cases = having(runs, figure);
  if (cases.empty()) return {};
  return words(*std::ranges::max_element(cases, {}, [&](const ReportCase& e) { return *figure(*e.one); }));
}

template <typename Is>
bool all_are(std::span<const ReportRun> runs, const Is& is) {
  const Cases cases = side_by_side(runs);
  return !cases.empty() &&
         std::ranges::all_of(cases, [&](const ReportCase& e) { return is(e.one->benchmark); });
}

bool only_trains(std::span<const ReportRun> runs) {
  return all_are(runs, [](const auto& b) { return traits_of(b.kind).trains; });
}

// With every model at one batch size, nothing is drawn over batches.
bool one_batch(std::span<const ReportRun> runs) {
  std::map<std::string, std::int64_t> batch_of;
  for (const ReportCase& entry : having(runs, [](const CaseResult&) { return true; })) {
    const auto& b = entry.one->benchmark;
    if (batch_of.try_emplace(b.model, b.batch_per_rank).first->second != b.batch_per_rank) return false;
  }
  return true;
}

std::string range_text(const result::Estimate& e, double scale, const char* unit) {
  std::string text = format_significant(*e.value * scale) + " " + unit;
  if (e.ci_low && e.ci_high)
    text += fmt::format(" ({})", analysis::format_range(*e.ci_low * scale, *e.ci_high * scale));
  return text;
}

// With one request at a time (sync), the throughput of a batch says no more than its latency.
std::string throughput_reading(std::span<const ReportRun> runs) {
  const auto one_at_a_time = [](const auto& b) { return traits_of(b.scenario).one_at_a_time; };
  if (one_batch(runs) && all_are(runs, one_at_a_time)) return {};
  const auto rate = [](const CaseResult& c) { return c.throughput.per_s.value; };
  return of_highest(runs, rate, [&](const ReportCase& best) {
    const std::string unit = best.one->throughput.item + "/s";
    return fmt::format("Highest: {} with {}.{}", range_text(best.one->throughput.per_s, 1, unit.c_str()),
                       name_of(best),
                       one_batch(runs) ? "" : " A line that rises less than the batch does has met a limit.");
  });
}

std::string latency_reading(std::span<const ReportRun> runs) {
  const auto speed = [](const CaseResult& c) {
    const auto& p50 = c.headline.p50_ns.value;
    return p50 ? Number(-*p50) : p50;
  };
  return of_highest(runs, speed, [](const ReportCase& best) {
    const auto& p50 = best.one->headline.p50_ns;
    return fmt::format(
        "Lowest median: {} with {}. Whiskers are {:g} % intervals; where they overlap, no order can be told.",
        range_text(p50, 1e-6, "ms"), name_of(best), p50.confidence * 100);
  });
}

std::string speedup_reading(std::span<const ReportRun> runs) {
  const Cases cases = having(runs, is_compared);
  if (cases.empty()) return {};
  const auto claimed =
      std::ranges::count_if(cases, [](const auto& e) { return analysis::may_claim(e.one->speedup); });
  return fmt::format(
      "{} of {} differ from their baseline beyond the interval (filled marks); an open mark carries no "
      "claim.",
      claimed, cases.size());
}

std::string device_memory_words(const Cases& cases) {
  const bool drivers =
      std::ranges::any_of(cases, [](const auto& e) { return result::is_drivers_memory(*e.one); });
  return fmt::format(
      "the most that tensors held of the GPU's memory{}",
      drivers ? ", and where the engine does not report it, what the driver reports in use" : "");
}

std::string memory_of_place(std::span<const ReportRun> runs, bool device) {
  const auto bytes = [](const CaseResult& c) { return result::peak_memory(c); };
  const Cases cases = having(
      runs, [&](const CaseResult& c) { return result::on_device(c.benchmark) == device && bool{bytes(c)}; });
  if (cases.empty()) return {};
  const auto [low, high] =
      std::ranges::minmax_element(cases, {}, [&](const ReportCase& e) { return *bytes(*e.one); });
  return fmt::format("From {} ({}) to {} ({}): {}.", format_bytes(static_cast<double>(*bytes(*low->one))),
                     name_of(*low), format_bytes(static_cast<double>(*bytes(*high->one))), name_of(*high),
                     device ? device_memory_words(cases)
                            : std::string("peak of the worker above its state before the model was loaded"));
}

std::string memory_reading(std::span<const ReportRun> runs) {
  const auto host = memory_of_place(runs, false), device = memory_of_place(runs, true);
  return host + (host.empty() || device.empty() ? "" : " ") + device;
}

std::string peak_reading(std::span<const ReportRun> runs) {
  const auto share = [](const CaseResult& c) { return c.flops.share_of_measured_peak; };
  return of_highest(runs, share, [&](const ReportCase& best) {
    return fmt::format(
        "{} comes closest: {} of the best this machine was measured to do; the rest is memory traffic and "
        "overhead.",
        name_of(best), format_percent(*share(*best.one), 0));
  });
}

std::string roofline_reading(std::span<const ReportRun> runs) {
  if (having(runs, has_roofline_point).empty()) return {};
  const auto share = [](const CaseResult& c) {
    const auto roof = roof_over(c);
    return roof ? Number(roof->share) : Number();
  };
  return of_highest(runs, share,
                    [&](const ReportCase& best) {
                      return fmt::format("{} comes closest to its roof: {} of the {} roof. ", name_of(best),
                                         format_percent(*share(*best.one), 0), roof_over(*best.one)->limit);
                    }) +
         "On the slope memory is the limit, on the flat part arithmetic. Bytes are those of operands and "
         "results of "
         "convolutions and matrix products, each once, so that no point can be further right.";
}

// How many cases of a model another one certainly beats, and for how many off the front that is open.
std::string beaten_text(const result::RunResult& run, std::string_view model,
                        const std::vector<const CaseResult*>& front) {
  std::vector<const CaseResult*> worse;
  std::int64_t open = 0;
  for (const CaseResult& one : run.cases) {
    const bool candidate =
        analysis::is_ok(one) && one.benchmark.model == model && std::ranges::count(front, &one) == 0;
    if (!candidate || !one.headline.p50_ns.value || !one.throughput.per_s.value) continue;
    if (analysis::beaten(run, one))
      worse.push_back(&one);
    else
      ++open;
  }
  std::string text;
  if (!worse.empty())
    text += fmt::format(" Beaten in latency and throughput at once, with the intervals of both ratios: {}.",
                        analysis::list_labels(worse, 4));
  if (open > 0)
    text += fmt::format(
        " {} more below the line are not claimed: the interval of a ratio contains 1, or there are too few "
        "pairs of processes.",
        plural(open, "case"));
  return text;
}

// Only for at least two cases of one model.
std::string pareto_reading(std::span<const ReportRun> runs) {
  const Cases cases = having(runs, [](const CaseResult& c) {
    return !c.training() && c.headline.p50_ns.value && c.throughput.per_s.value;
  });
  if (cases.size() < 2) return {};
  const auto& first = *cases.front().run;
  const std::string& model = cases.front().one->benchmark.model;
  const auto front = analysis::pareto_front(first.result, model);
  return fmt::format(
      "Up and to the left is better. On the line, of {} by the figures alone: {}.{} Point at a mark for what "
      "its answers cost.",
      model, analysis::list_labels(front, 4), beaten_text(first.result, model, front));
}

bool is_server(const CaseResult& c) {
  return traits_of(c.benchmark.scenario).has_queue && c.load();
}

// Names each recorded schedule once.
std::string replayed_reading(const Cases& cases) {
  std::vector<std::string> seen;
  for (const auto& entry : cases)
    if (const auto& replay = entry.one->load()->replay; replay)
      place_of(result::replay_in_words(*replay), seen);
  std::string text;
  for (const auto& words : seen) text += fmt::format(" Replayed: {}.", words);
  return text;
}

// For servers a distribution tells more than any quantile; drawn where samples are available.
std::string requests_reading(std::span<const ReportRun> runs) {
  Cases cases = having(runs, is_server);
  std::erase_if(cases, [](const ReportCase& e) {
    const auto found = e.run->samples.find(e.one->case_id);
    return found == e.run->samples.end() || found->second.empty();
  });
  if (cases.empty()) return {};
  return fmt::format("Every counted request of all processes, from its scheduled arrival to its answer.{}{}",
                     cases.size() > kServersDrawn
                         ? fmt::format(" The first {} of {} cases are drawn.", kServersDrawn, cases.size())
                         : "",
                     replayed_reading(cases));
}

std::string stages_reading(std::span<const ReportRun> runs) {
  const auto first = [](const CaseResult& c) {
    return is_server(c) && !c.load()->stages.empty() ? c.load()->stages.front().mean_ns : Number();
  };
  return of_highest(runs, first, [&](const ReportCase& longest) {
    return fmt::format("Means, which add up to the mean latency. Longest {}: {} of {}.",
                       longest.one->load()->stages.front().name, format_duration_ns(*first(*longest.one)),
                       name_of(longest));
  });
}

std::string time_name(std::span<const ReportRun> runs) {
  return only_trains(runs) ? "Step time" : "Latency";
}

std::string over_batch(const std::string& title, std::span<const ReportRun> runs) {
  return title + (one_batch(runs) ? "" : " over batch");
}

std::string samples_reading(const ReportCase& entry, const RenderOptions& options) {
  const auto found = entry.run->samples.find(entry.one->case_id);
  if (found == entry.run->samples.end() || found->second.empty()) return {};
  const std::size_t n = found->second.size();
  std::string text = fmt::format("{} of {}, none removed", plural(static_cast<std::int64_t>(n), "sample"),
                                 plural(std::ssize(entry.one->repetitions), "process"));
  if (n > options.max_points)
    text +=
        fmt::format("; at most {} are drawn over time, the smallest and largest of each stretch among them",
                    options.max_points);
  const auto& outliers = entry.one->outliers;
  if (outliers.severe > 0) text += "; " + plural(outliers.severe, "severe outlier");
  if (entry.one->noise.multimodal) text += fmt::format("; {} modes", entry.one->noise.modes.size());
  return text + ".";
}

}  // namespace

bool is_compared(const CaseResult& one) {
  const auto& s = one.speedup;
  return s.ratio.value && !s.baseline_case_id.empty() && s.baseline_case_id != one.case_id &&
         analysis::no_claim_reason(one).empty();
}

std::string main_charts_title(std::span<const ReportRun> runs) {
  return time_name(runs) + (throughput_reading(runs).empty() ? "" : " and throughput");
}

Sections main_charts(std::span<const ReportRun> runs) {
  return {
      {.chart = {"requests", "Latency of requests", requests_reading(runs), "p99_ms", request_plots(runs)}},
      {.chart = {"stages", "Where the time of a request goes", stages_reading(runs), "queue_mean_ms",
                 stage_plots(runs)}},
      {.chart = {"throughput_comparison", over_batch("Throughput", runs), throughput_reading(runs),
                 "throughput_per_s", throughput_plots(runs)}},
      {.chart = {"latency_comparison", over_batch(time_name(runs), runs), latency_reading(runs), "p50_ms",
                 latency_plots(runs)}}};
}

Sections more_charts(std::span<const ReportRun> runs) {
  return {{.chart = {"pareto", "Latency against throughput", pareto_reading(runs), "throughput_per_s",
                     pareto_plots(runs)}},
          {.chart = {"speedup", "Speed-up over the baseline", speedup_reading(runs), "speedup",
                     speedup_plots(runs)}},
          {.chart = {"memory", "Memory", memory_reading(runs), "memory_mb", memory_plots(runs)}},
          {.chart = {"peak", "Share of the measured peak", peak_reading(runs), "share_of_peak",
                     peak_plots(runs)}},
          {.chart = {"roofline", "Roofline", roofline_reading(runs), "share_of_peak", roofline_plots(runs)}}};
}

Chart samples_chart(const ReportCase& entry, const RenderOptions& options) {
  return {"samples",
          "",
          samples_reading(entry, options),
          "p50_ms",
          sample_plots(entry, options.max_points),
          entry.one->case_id};
}

}  // namespace paceline::report
