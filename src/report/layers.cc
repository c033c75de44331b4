// SPDX-License-Identifier: MIT
// Words the longest layers of a case and what they add up to.
#include <fmt/format.h>

#include "base/units.h"
#include "report/case_cells.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

constexpr std::string_view kLayerCaveat =
    "Profiling slows an engine down, small layers most, and what happens between layers is in none of them: "
    "read the shares, not the sum. Every layer is in layers.csv.";

std::string or_dash(const std::string& text) {
  return text.empty() ? kNone : text;
}

Table layer_table(const std::vector<result::LayerRow>& layers) {
  Table table{.heads = {"layer", "type", "precision", "model's layer", "ms", "share"},
              .numbers_from = 4,
              .most = {26, 18, 0, 21},  // on a terminal of 100 columns
              .columns_kept = 6};
  for (const auto& row : layers)
    table.add(or_dash(row.name), or_dash(row.type), or_dash(row.precision), or_dash(row.model_layer),
              or_none(row.time_ns, format_ms), percent_or_none(row.share));
  return table;
}

std::string of_latency_text(const CaseResult& one) {
  const auto& profile = one.layer_profile;
  if (!profile.of_latency) return {};
  return fmt::format(", {} of the measured {}", format_percent(*profile.of_latency, 0),
                     format_duration_ns(*one.headline.p50_ns.value));
}

// "53 layers, together 10.9 ms: 102 % of the measured 10.7 ms (medians of 20 inferences; …)", or why there
// are no times.
std::string sum_text(const CaseResult& one) {
  const auto& profile = one.layer_profile;
  if (!profile.sum_ns) return "no times of layers: " + profile.reason;
  return fmt::format("{} layers, together {}{} ({}s of {} inferences; {})", *profile.layers,
                     format_duration_ns(*profile.sum_ns), of_latency_text(one), profile.statistic,
                     *profile.inferences, profile.source);
}

Sections layer_sections(const ReportCase& entry) {
  const CaseResult& one = *entry.one;
  if (!one.layer_profile.asked) return {};
  return {{.title = "The longest layers",
           .table = layer_table(one.layer_profile.top),
           .paragraphs = {sum_text(one)},
           .notes = {std::string(kLayerCaveat)}}};
}

}  // namespace

constexpr Subject kLayers{.heading = "Layers",
                          .case_heading = "layers of ",
                          .caveat = kLayerCaveat,
                          .place = Place::kAfterFigures,
                          .of_case = layer_sections};

}  // namespace paceline::report
