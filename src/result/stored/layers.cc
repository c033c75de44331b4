// SPDX-License-Identifier: MIT
#include "result/stored/layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/csv_cell.h"

namespace paceline::result {
namespace {

std::vector<LayerRow> longest(std::vector<LayerRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const LayerRow& a, const LayerRow& b) {
    return a.time_ns.value().value_or(-1) > b.time_ns.value().value_or(-1);
  });
  rows.resize(std::min(rows.size(), kTopLayers));
  return rows;
}

}  // namespace

LayerProfile summarize_layers(std::vector<LayerRow>& rows, const Number& p50_ns) {
  LayerProfile profile;
  profile.asked = true;
  profile.layers = static_cast<std::int64_t>(rows.size());
  double sum = 0;
  for (const auto& row : rows) sum += row.time_ns.value().value_or(0);
  if (sum <= 0) {
    const bool timed =
        std::any_of(rows.begin(), rows.end(), [](const auto& row) { return bool(row.time_ns); });
    profile.reason =
        timed ? "every layer is too short for the engine's clock" : "the engine reported no times";
    profile.sum_ns = profile.of_latency = Number::missing(profile.reason);
    return profile;
  }
  for (auto& row : rows)
    row.share = row.time_ns ? Number(*row.time_ns / sum) : Number::missing(row.time_ns.reason());
  profile.sum_ns = sum;
  profile.of_latency = p50_ns ? Number(sum / *p50_ns) : Number::missing(p50_ns.reason());
  profile.top = longest(rows);
  return profile;
}

std::string layers_to_csv(const std::vector<LayerRow>& rows) {
  std::string out = "index,name,type,precision,model_layer,time_ns,share\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& r = rows[i];
    out += fmt::format("{},{},{},{},{},{},{}\n", i, csv_cell(r.name), csv_cell(r.type), csv_cell(r.precision),
                       csv_cell(r.model_layer), csv_cell(r.time_ns), csv_cell(r.share));
  }
  return out;
}

}  // namespace paceline::result
