// SPDX-License-Identifier: MIT
#include "compare/figure_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "compare/paired_answers.h"
#include "result/figures/peak_memory.h"
#include "result/metric_table.h"
#include "stats/interval.h"
#include "stats/median.h"

namespace paceline::compare {
namespace {

using result::CaseResult;
using result::Repetition;
using stats::Better;

constexpr double kNsToMs = 1e-6, kBytesToMb = 1e-6;

Number scaled_by(const Number& number, double scale) {
  return number ? Number(*number * scale) : number;
}

Number found_in(const PerProcess& values, const Repetition& r, double scale) {
  const auto found = values.find(r.index);
  return found == values.end() ? Number::missing("no value of this process") : found->second * scale;
}

// A figure with its name, title and unit from the table of metrics.
Figure figure_of(const char* metric) {
  const auto* row = result::find_metric(metric);
  return {.name = metric,
          .title = std::string(row->title),
          .unit = std::string(row->unit),
          .better = row->better == result::Better::kHigher ? Better::kHigher : Better::kLower};
}

Number metric_value(const char* metric, const CaseResult& one) {
  const auto value = result::find_metric(metric)->get(one);
  return {value.value, value.reason};
}

struct PlainRow {
  const char *metric, *title;
  Number (*value)(const CaseSide&, const Repetition&);
};
constexpr std::array kPlainRows{
    PlainRow{"p99_ms", "p99",
             [](const CaseSide& c, const Repetition& r) { return found_in(c.extra.p99_ns, r, kNsToMs); }},
    PlainRow{"memory_mb", "memory",
             [](const CaseSide& c, const Repetition& r) {
               const auto bytes = result::peak_memory(c.one->benchmark, r.memory);
               return bytes ? Number(static_cast<double>(*bytes) * kBytesToMb)
                            : Number::missing(bytes.reason());
             }},
    PlainRow{"first_iteration_ms", "first inference",
             [](const CaseSide&, const Repetition& r) { return scaled_by(r.first_iteration_ns, kNsToMs); }},
    PlainRow{"load_ms", "load time",
             [](const CaseSide&, const Repetition& r) { return scaled_by(r.load_ns, kNsToMs); }}};

FigureRow row_of(const char* metric, Number (*value)(const CaseSide&, const Repetition&)) {
  return {figure_of(metric), value, [metric](const CaseSide& c) { return metric_value(metric, *c.one); }};
}

// The median over processes, as the change is one of medians; the case's own figure may be the largest.
Number usual_value(const CaseSide& side, Number (*value)(const CaseSide&, const Repetition&)) {
  std::vector<double> values;
  for (const auto& r : side.one->repetitions)
    if (const auto one = value(side, r)) values.push_back(*one);
  return values.empty() ? Number::missing("no process has it") : Number(stats::median(values));
}

FigureRow latency_row(const CaseResult& one) {
  auto row =
      row_of("p50_ms", [](const CaseSide&, const Repetition& r) { return scaled_by(r.p50_ns, kNsToMs); });
  if (traits_of(one.benchmark.kind).trains) row.figure.title = "step p50";
  return row;
}

FigureRow rate_row() {
  return row_of("throughput_per_s", [](const CaseSide& c, const Repetition& r) {
    return result::process_value(*c.one, r, result::Figure::kRate);
  });
}

FigureRow part_row(result::StepPart part) {
  const auto& traits = result::traits_of(part);
  const auto ms_of = [part](const result::Training* training) {
    return training ? scaled_by(training->parts.ns[part], kNsToMs) : Number{};
  };
  return {Figure{.name = fmt::format("{}_ms", traits.name), .title = traits.label, .unit = "ms"},
          [ms_of](const CaseSide&, const Repetition& r) { return ms_of(r.training()); },
          [ms_of](const CaseSide& c) { return ms_of(c.one->training()); }};
}

const result::CollectiveFigures* size_in(const CaseResult& one, std::int64_t bytes, bool in_place) {
  if (!one.collective()) return nullptr;
  for (const auto& size : one.collective()->sizes)
    if (size.bytes == bytes) return in_place ? &size.in_place : &size.out_of_place;
  return nullptr;
}

// The case's bandwidth, larger or smaller as this process's time was shorter or longer than the case's.
FigureRow size_row(const CaseSide& side, std::int64_t bytes, bool in_place) {
  const auto busbw = [bytes, in_place](const CaseSide& c) {
    const auto* figures = size_in(*c.one, bytes, in_place);
    return figures ? figures->sync_busbw_gb_per_s.value : Number{};
  };
  const auto of_process = [=](const CaseSide& c, const Repetition& r) {
    const auto* figures = size_in(*c.one, bytes, in_place);
    const auto times = c.extra.size_ns.find({bytes, in_place});
    if (!figures || times == c.extra.size_ns.end()) return Number::missing("no times of single processes");
    const auto ns = found_in(times->second, r, 1);
    const auto &rate = figures->sync_busbw_gb_per_s.value, &usual = figures->sync_ns.value;
    return ns && rate && usual ? Number(*rate * *usual / *ns) : ns ? rate : ns;
  };
  Figure figure{.name = fmt::format("busbw_gb_per_s.{}{}", bytes, in_place ? ".in_place" : ""),
                .title = fmt::format("{} {}{}", side.one->collective()->operation,
                                     format_bytes(static_cast<double>(bytes)), in_place ? " in place" : ""),
                .unit = "GB/s",
                .better = Better::kHigher,
                .decides = !in_place};
  return {std::move(figure), of_process, busbw};
}

void add_sizes(const CaseSide& a, const CaseSide& b, std::vector<FigureRow>& rows) {
  for (const auto& size : a.one->collective()->sizes)
    for (const bool in_place : {false, true}) {
      const auto *mine = size_in(*a.one, size.bytes, in_place),
                 *theirs = size_in(*b.one, size.bytes, in_place);
      if (mine && theirs && mine->sync_busbw_gb_per_s.value && theirs->sync_busbw_gb_per_s.value)
        rows.push_back(size_row(a, size.bytes, in_place));
    }
}

// A difference of shares whose intervals are of each side alone; the inputs may be the same, which only
// narrows the true one.
void judge_shares(Figure& figure, const result::Estimate& a, const result::Estimate& b) {
  figure.doubt = "no interval of one of the sides";
  if (!a.ci_low || !a.ci_high || !b.ci_low || !b.ci_high) return;
  const double change = *b.value - *a.value;
  figure.change = change;
  figure.ci = stats::Interval{change - std::hypot(*b.value - *b.ci_low, *a.ci_high - *a.value),
                              change + std::hypot(*b.ci_high - *b.value, *a.value - *a.ci_low)};
  figure.doubt = "";
  if (figure.ci->high < 0) figure.verdict = stats::Verdict::kRegression;
  if (figure.ci->low > 0) figure.verdict = stats::Verdict::kImprovement;
  if (figure.verdict == stats::Verdict::kInconclusive)
    figure.doubt =
        change == 0 ? "both sides give equally many right answers" : "too few answers tell the sides apart";
}

Figure share_figure(const char* metric, const result::Estimate& a, const result::Estimate& b,
                    const std::optional<stats::PairedCounts>& paired) {
  Figure figure = figure_of(metric);
  figure.scale = Scale::kDifference;
  figure.a = a.value, figure.b = b.value;
  figure.confidence = a.confidence;
  if (paired)
    judge_answers(figure, *paired);
  else
    judge_shares(figure, a, b);
  figure.decides = figure.verdict == stats::Verdict::kRegression;
  return figure;
}

// One reading over all processes.
void add_energy(const char* metric, const CaseResult& a, const CaseResult& b, std::vector<Figure>& figures) {
  Figure figure = figure_of(metric);
  figure.a = metric_value(metric, a), figure.b = metric_value(metric, b);
  if (!figure.a || !figure.b || *figure.a <= 0) return;
  figure.change = *figure.b / *figure.a;
  figure.doubt = "one reading over all processes has no interval";
  figures.push_back(std::move(figure));
}

}  // namespace

FigureRows figure_rows(const CaseSide& a, const CaseSide& b) {
  FigureRows found;
  auto latency = latency_row(*a.one), rate = rate_row();
  const bool pipelined = a.one->benchmark.timing_mode == stats::kPipelined,
             sweeps = traits_of(a.one->benchmark.kind).sweeps;
  const bool by_rate = pipelined || traits_of(a.one->benchmark.scenario).all_at_start;
  if (by_rate) found.headline = result::Figure::kRate;
  auto& headline = by_rate ? rate : latency;
  headline.figure.decides = true;
  if (!sweeps) found.rows = by_rate ? std::vector{rate, latency} : std::vector{latency, rate};
  if (sweeps && a.one->collective() && b.one->collective()) add_sizes(a, b, found.rows);
  for (const auto& row : kPlainRows) {
    found.rows.push_back(row_of(row.metric, row.value));
    found.rows.back().figure.title = row.title;
    found.rows.back().whole = [value = row.value](const CaseSide& c) { return usual_value(c, value); };
  }
  if (a.one->training() && b.one->training())
    for (const auto part : result::kStepParts) found.rows.push_back(part_row(part));
  return found;
}

std::vector<Figure> figures_of_cases(const CaseResult& a, const CaseResult& b) {
  std::vector<Figure> figures;
  for (const char* metric : {"energy_per_item_j", "cpu_energy_per_item_j"}) add_energy(metric, a, b, figures);
  const auto &mine = a.correctness, &theirs = b.correctness;
  if (mine.labelled.top1.value && theirs.labelled.top1.value)
    figures.push_back(share_figure("top1_accuracy", mine.labelled.top1, theirs.labelled.top1,
                                   paired_answers(mine, theirs)));
  else if (mine.top1.value && theirs.top1.value)
    figures.push_back(share_figure("top1_agreement", mine.top1, theirs.top1, std::nullopt));
  return figures;
}

}  // namespace paceline::compare
