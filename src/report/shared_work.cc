// SPDX-License-Identifier: MIT
// Shows how throughput scales over GPUs or processes that share one queue, and what each of them did.
#include "result/judged/shared_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/chart/plots.h"
#include "report/html_parts.h"
#include "report/subjects.h"
#include "result/judged/training_scaling.h"

namespace paceline::report {
namespace {

using result::WorkPart;

constexpr std::string_view kWorkCaveat =
    "Except in a server, whose requests come by a schedule, each takes the next request when its last is "
    "complete: what it does is its speed. Efficiency is the throughput per GPU or process, of a server at "
    "saturation, over that with the fewest.";

Cell efficiency_cell(const CaseResult& one) {
  if (!one.scaling) return {kNone, "missing"};
  const auto doubt = result::scaling_doubt(one);
  if (doubt.empty()) return with_interval(result::efficiency_of(one));
  Cell cell("no claim");
  cell.note = "no claim: " + doubt;
  return cell;
}

// "255, 257", of many "248–257".
std::string each_text(const CaseResult& one) {
  constexpr std::size_t kListed = 4;
  std::vector<double> rates;
  std::vector<std::string> texts;
  for (const auto& part : result::work_parts(one)) {
    rates.push_back(part.per_s.value().value_or(0));
    texts.push_back(or_none(part.per_s, format_rate));
  }
  if (texts.empty()) return or_none(one.throughput.per_s.value, format_rate);
  if (texts.size() <= kListed) return join(texts, ", ");
  const auto [low, high] = std::ranges::minmax(rates);
  return fmt::format("{}–{}", format_rate(low), format_rate(high));
}

// Reads out the case with most GPUs or processes; names it unless all have one base.
std::string sharing_reading(const Cases& cases) {
  const ReportCase* widest = nullptr;
  std::set<std::pair<const ReportRun*, std::string>> bases;
  for (const auto& entry : cases) {
    if (!entry.one->scaling) continue;
    bases.emplace(entry.run, entry.one->scaling->base_case_id);
    if (!widest || entry.one->scaling->world > widest->one->scaling->world) widest = &entry;
  }
  if (!widest) return {};
  const CaseResult& one = *widest->one;
  const auto& scaling = *one.scaling;
  const bool gpus = result::replicas_of(one.benchmark)->gpus;
  const auto doubt = result::scaling_doubt(one);
  const auto base = result::replicas_text(scaling.base_world, gpus),
             most = result::replicas_text(scaling.world, gpus);
  const auto claim =
      doubt.empty()
          ? fmt::format("{} do {} times the work of {}, an efficiency of {}", most,
                        format_fixed(*scaling.speedup, 2), base, with_interval(result::efficiency_of(one)))
          : fmt::format("What {} gain over {} is not claimed: {}", most, base, doubt);
  const auto which = bases.size() > 1 ? name_of(*widest) + ": " : "";
  return fmt::format("{}{}. The dotted line is ideal: as many times the throughput.", which, claim);
}

Sections work_of_runs(std::span<const ReportRun> runs, Form form) {
  const auto cases = cases_with(runs, [](const CaseResult& one) {
    return analysis::is_ok(one) && result::replicas_of(one.benchmark).has_value();
  });
  if (cases.empty()) return {};
  Table table{.heads = {"case", "on", throughput_head(cases), "of each", "speed-up", "efficiency"},
              .labels = 36};
  for (const auto& entry : cases) {
    const CaseResult& one = *entry.one;
    const auto replicas = *result::replicas_of(one.benchmark);
    const bool claimed = one.scaling && result::scaling_doubt(one).empty();
    table.add(linked(name_of(entry), case_anchor(entry)),
              result::replicas_text(replicas.count, replicas.gpus), with_interval(one.throughput.per_s, 1),
              each_text(one), claimed ? format_fixed(*one.scaling->speedup, 2) : kNone, efficiency_cell(one));
  }
  share_labels(table);
  auto plots = form == Form::kPage ? scaling_plots(cases) : Plots{};
  return {{.chart = {"gpu_scaling", "Throughput over GPUs or processes", sharing_reading(cases), "efficiency",
                     std::move(plots)},
           .table = std::move(table),
           .metric = "efficiency",
           .notes = {std::string(kWorkCaveat)}}};
}

Sections work_of_case(const ReportCase& entry) {
  const auto parts = result::work_parts(*entry.one);
  if (parts.empty()) return {};
  double all = 0;
  for (const auto& part : parts) all += static_cast<double>(part.completed);
  Table table{.heads = {"on", "CPUs", entry.one->throughput.item + "/s", "share", "requests"},
              .numbers_from = 2};
  for (const auto& part : parts)
    table.add(part.name, part.cpus, or_none(part.per_s, format_rate),
              all > 0 ? format_percent(static_cast<double>(part.completed) / all) : kNone,
              fmt::format("{}", part.completed));
  return {{.title = "Work of each", .table = std::move(table), .notes = {std::string(kWorkCaveat)}}};
}

constexpr std::array kWorkCharts{
    ChartReason{"gpu_scaling", "no inference case may be compared with one of fewer GPUs or processes"}};

}  // namespace

constexpr Subject kSharedWork{.id = "shared-work",
                              .heading = "GPUs and processes that share a queue",
                              .of_runs = work_of_runs,
                              .of_case = work_of_case,
                              .charts = kWorkCharts};

}  // namespace paceline::report
