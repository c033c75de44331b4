// SPDX-License-Identifier: MIT
// Shows what samplers read beside the timed samples.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/subjects.h"
#include "result/stored/device_state.h"

namespace paceline::report {
namespace {

using result::Sampled;
using result::SampledMetric;

constexpr std::string_view kSampledCaveat =
    "Samplers run beside the timed samples and may disturb them. Every reading is in sampled.csv.";

// "none (38), power cap (2)"
std::string counts_text(const std::vector<result::WordCount>& counts) {
  std::vector<std::string> parts;
  for (const auto& one : counts) parts.push_back(fmt::format("{} ({})", one.words, one.n));
  return join(parts, ", ");
}

bool has_ranks(const Sampled& sampled) {
  return std::ranges::any_of(sampled.metrics, [](const SampledMetric& one) { return one.rank != 0; });
}

void add_metric(Table& table, const Sampled& sampled, const SampledMetric& metric) {
  const auto device =
      has_ranks(sampled) ? fmt::format("{}, rank {}", metric.device, metric.rank) : metric.device;
  table.add(sampled.sampler, device, metric.metric, metric.unit.empty() ? kNone : metric.unit,
            significant_or_none(metric.mean), significant_or_none(metric.min),
            significant_or_none(metric.max), fmt::format("{}", metric.n));
  if (metric.words.empty()) return;
  table.rows.back().cells.resize(4, Cell(kNone));
  table.rows.back().instead = counts_text(metric.words);
}

// "nvml: read 40 times in 2 windows, 0.2 % of a core"; what went wrong follows.
std::string sampler_text(const Sampled& sampled) {
  if (sampled.readings == 0)
    return fmt::format("{}: no readings: {}", sampled.sampler, join(sampled.problems, "; "));
  auto text = fmt::format("{}: read {} in {}", sampled.sampler, plural(sampled.readings, "time"),
                          plural(sampled.windows, "window"));
  if (sampled.cpu_share) text += fmt::format(", {} of a core", format_percent(*sampled.cpu_share, 2));
  for (const auto& problem : sampled.problems) text += "; " + problem;
  return text;
}

Section section_of(const std::vector<const Sampled*>& all) {
  Table table{.heads = {"sampler", "device", "metric", "unit", "mean", "min", "max", "readings"},
              .numbers_from = 4,
              .columns_kept = 8};
  Section section{.title = "Beside the timed samples", .notes = {std::string(kSampledCaveat)}};
  for (const Sampled* sampled : all) {
    for (const auto& metric : sampled->metrics) add_metric(table, *sampled, metric);
    section.paragraphs.push_back(sampler_text(*sampled));
  }
  section.table = std::move(table);
  return section;
}

bool has_a_line(const CaseResult& one, const std::string& sampler) {
  return (sampler == result::kDeviceSampler && !one.devices.empty()) ||
         (sampler == result::kCpuSampler && !one.cpu_power.empty());
}

// GPU use and CPU power have a line of their case as well.
Sections sampled_sections(const ReportCase& entry) {
  std::vector<const Sampled*> summed, others;
  for (const auto& one : entry.one->sampled)
    (has_a_line(*entry.one, one.sampler) ? summed : others).push_back(&one);
  Sections sections;
  if (!others.empty()) sections.push_back(section_of(others));
  if (!summed.empty()) sections.push_back(section_of(summed)), sections.back().aside = true;
  return sections;
}

}  // namespace

constexpr Subject kSampled{.heading = "Samplers",
                           .case_heading = "beside the timed samples of ",
                           .caveat = kSampledCaveat,
                           .place = Place::kAfterFigures,
                           .of_case = sampled_sections};

}  // namespace paceline::report
