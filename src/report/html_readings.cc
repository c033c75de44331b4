// SPDX-License-Identifier: MIT
// Says in one line per chart what it shows.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/case_query.h"
#include "base/units.h"
#include "report/chart_data.h"
#include "report/html_parts.h"

namespace paceline::report {
namespace {

using result::CaseResult;
using Cases = std::vector<ReportCase>;

// Measured cases that have a figure.
template <typename Figure>
Cases having(std::span<const ReportRun> runs, const Figure& figure) {
  Cases cases = side_by_side(runs);
  std::erase_if(cases, [&](const ReportCase& e) { return !analysis::is_ok(*e.one) || !figure(*e.one); });
  return cases;
}

result::Number rate(const CaseResult& c) {
  return c.throughput.per_s.value;
}
result::Number p50(const CaseResult& c) {
  return c.headline.p50_ns.value;
}
result::Number share_of_peak(const CaseResult& c) {
  return c.flops.share_of_measured_peak;
}

// The first with the highest figure, of at least one case.
template <typename Figure>
const ReportCase& highest(const Cases& cases, const Figure& figure) {
  return *std::max_element(cases.begin(), cases.end(), [&](const ReportCase& a, const ReportCase& b) {
    return *figure(*a.one) < *figure(*b.one);
  });
}

bool only_trains(std::span<const ReportRun> runs) {
  const auto cases = side_by_side(runs);
  return !cases.empty() && std::all_of(cases.begin(), cases.end(), [](const ReportCase& e) {
    return e.one->benchmark.kind == "training";
  });
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

// With one request at a time (sync), the throughput of a batch says no more than its latency.
bool one_at_a_time(std::span<const ReportRun> runs) {
  const Cases cases = side_by_side(runs);
  return std::all_of(cases.begin(), cases.end(),
                     [](const ReportCase& e) { return e.one->benchmark.scenario == "sync"; });
}

std::string range_text(const result::Estimate& e, double scale, const char* unit) {
  std::string text = format_significant(*e.value * scale) + " " + unit;
  if (e.ci_low && e.ci_high)
    text += fmt::format(" ({})", analysis::format_range(*e.ci_low * scale, *e.ci_high * scale));
  return text;
}

std::string throughput_reading(std::span<const ReportRun> runs) {
  const Cases cases = having(runs, rate);
  if (cases.empty() || (one_batch(runs) && one_at_a_time(runs))) return {};
  const ReportCase& best = highest(cases, rate);
  const std::string unit = best.one->throughput.item + "/s";
  return fmt::format("Highest: {} with {}.{}", range_text(best.one->throughput.per_s, 1, unit.c_str()),
                     name_of(best),
                     one_batch(runs) ? "" : " A line that rises less than the batch does has met a limit.");
}

std::string latency_reading(std::span<const ReportRun> runs) {
  const Cases cases = having(runs, p50);
  if (cases.empty()) return {};
  const ReportCase& best = highest(cases, [](const CaseResult& c) { return std::optional(-*p50(c)); });
  return fmt::format(
      "Lowest median: {} with {}. Whiskers are {:g} % intervals; where they overlap, no order can be told.",
      range_text(best.one->headline.p50_ns, 1e-6, "ms"), name_of(best),
      best.one->headline.p50_ns.confidence * 100);
}

std::string speedup_reading(std::span<const ReportRun> runs) {
  const Cases cases = having(runs, [](const CaseResult& c) {
    return c.speedup.ratio.value && !c.speedup.baseline_case_id.empty() &&
           c.speedup.baseline_case_id != c.case_id && analysis::no_claim_reason(c).empty();
  });
  if (cases.empty()) return {};
  const auto claimed = std::count_if(cases.begin(), cases.end(),
                                     [](const auto& e) { return analysis::may_claim(e.one->speedup); });
  return fmt::format(
      "{} of {} differ from their baseline beyond the interval (filled marks); an open mark carries no "
      "claim.",
      claimed, cases.size());
}

std::string memory_reading(std::span<const ReportRun> runs) {
  const auto bytes = [](const CaseResult& c) { return c.memory.rss_peak_above_load_bytes; };
  const Cases cases = having(runs, [&](const CaseResult& c) { return bool{bytes(c)}; });
  if (cases.empty()) return {};
  const auto less = [&](const auto& a, const auto& b) { return *bytes(*a.one) < *bytes(*b.one); };
  const auto [low, high] = std::minmax_element(cases.begin(), cases.end(), less);
  return fmt::format(
      "From {} ({}) to {} ({}): peak of the worker above its state before the model was loaded.",
      format_bytes(static_cast<double>(*bytes(*low->one))), name_of(*low),
      format_bytes(static_cast<double>(*bytes(*high->one))), name_of(*high));
}

std::string peak_reading(std::span<const ReportRun> runs) {
  const Cases cases = having(runs, share_of_peak);
  if (cases.empty()) return {};
  const ReportCase& best = highest(cases, share_of_peak);
  return fmt::format(
      "{} comes closest: {} of the best this machine was measured to do; the rest is memory traffic and "
      "overhead.",
      name_of(best), format_percent(*share_of_peak(*best.one), 0));
}

// How many cases of a model another one certainly beats, and for how many off the front that is open.
std::string beaten_text(const result::RunResult& run, std::string_view model,
                        const std::vector<const CaseResult*>& front) {
  std::vector<const CaseResult*> worse;
  std::int64_t open = 0;
  for (const CaseResult& one : run.cases) {
    const bool candidate = analysis::is_ok(one) && one.benchmark.model == model &&
                           std::find(front.begin(), front.end(), &one) == front.end();
    if (!candidate || !one.headline.p50_ns.value || !one.throughput.per_s.value) continue;
    if (analysis::beaten(run, one))
      worse.push_back(&one);
    else
      ++open;
  }
  std::string text;
  if (!worse.empty())
    text += fmt::format(" Beaten in latency and throughput at once, with intervals apart: {}.",
                        analysis::list_labels(worse, 4));
  if (open > 0)
    text += fmt::format(
        " Of {} more beside the line that is not claimed: intervals overlap, or a case is of grade C or of "
        "too few processes.",
        plural(open, "case"));
  return text;
}

// Only for at least two cases of one model.
std::string pareto_reading(std::span<const ReportRun> runs) {
  const Cases cases = having(runs, [](const CaseResult& c) {
    return c.training.empty() && c.headline.p50_ns.value && c.throughput.per_s.value;
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
  return c.benchmark.scenario == "server" && !c.load.empty();
}

constexpr std::ptrdiff_t kServersDrawn = 6;  // as page/app.js draws them

// For servers a distribution tells more than any quantile; drawn where samples are available.
std::string requests_reading(std::span<const ReportRun> runs) {
  Cases cases = having(runs, is_server);
  std::erase_if(cases, [](const ReportCase& e) {
    const auto found = e.run->samples.find(e.one->case_id);
    return found == e.run->samples.end() || found->second.empty();
  });
  if (cases.empty()) return {};
  return fmt::format("Every counted request of all processes, from its scheduled arrival to its answer.{}",
                     std::ssize(cases) > kServersDrawn
                         ? fmt::format(" The first {} of {} cases are drawn.", kServersDrawn, cases.size())
                         : "");
}

std::string stages_reading(std::span<const ReportRun> runs) {
  const auto first = [](const CaseResult& c) {
    return is_server(c) && !c.load.front().stages.empty() ? c.load.front().stages.front().mean_ns
                                                          : result::Number();
  };
  const Cases cases = having(runs, first);
  if (cases.empty()) return {};
  const ReportCase& longest = highest(cases, first);
  return fmt::format("Means, which add up to the mean latency. Longest {}: {} of {}.",
                     longest.one->load.front().stages.front().name, format_duration_ns(*first(*longest.one)),
                     name_of(longest));
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

std::string main_charts_title(std::span<const ReportRun> runs) {
  return time_name(runs) + (throughput_reading(runs).empty() ? "" : " and throughput");
}

Sections main_charts(std::span<const ReportRun> runs) {
  return {
      {.chart = {"requests", "Latency of requests", requests_reading(runs), "p99_ms"}},
      {.chart = {"stages", "Where the time of a request goes", stages_reading(runs), "queue_mean_ms"}},
      {.chart = {"throughput", over_batch("Throughput", runs), throughput_reading(runs), "throughput_per_s"}},
      {.chart = {"latency", over_batch(time_name(runs), runs), latency_reading(runs), "p50_ms"}}};
}

Sections more_charts(std::span<const ReportRun> runs) {
  return {{.chart = {"pareto", "Latency against throughput", pareto_reading(runs), "throughput_per_s"}},
          {.chart = {"speedup", "Speed-up over the baseline", speedup_reading(runs), "speedup"}},
          {.chart = {"memory", "Memory", memory_reading(runs), "memory_mb"}},
          {.chart = {"peak", "Share of the measured peak", peak_reading(runs), "share_of_peak"}}};
}

Chart samples_chart(const ReportCase& entry, const RenderOptions& options) {
  return {"samples", "", samples_reading(entry, options), "p50_ms", case_anchor(entry)};
}

}  // namespace paceline::report
