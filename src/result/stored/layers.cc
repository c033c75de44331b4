// SPDX-License-Identifier: MIT
#include "result/stored/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/csv_cell.h"
#include "base/csv_rows.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

std::vector<LayerRow> longest(std::vector<LayerRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const LayerRow& a, const LayerRow& b) {
    return a.time_ns.value().value_or(-1) > b.time_ns.value().value_or(-1);
  });
  rows.resize(std::min(rows.size(), kTopLayers));
  return rows;
}

using Unmatched = std::map<std::string, std::vector<std::size_t>>;

// Indices of rows that have no match yet, by a text of theirs, in order.
Unmatched unmatched_by(std::string LayerRow::*text, const std::vector<LayerRow>& rows,
                       const std::vector<bool>& matched) {
  Unmatched by_text;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!matched[i]) by_text[rows[i].*text].push_back(i);
  return by_text;
}

// Adds the times of a profile to the rows of the same layers. Sessions may order and name layers that the
// engine made itself in other ways: these match by type, in order, if there are equally many.
void add_profile(std::vector<LayerRow>& rows, const std::vector<LayerRow>& profile) {
  std::vector<bool> has_match(rows.size()), used(profile.size());
  for (const auto text : {&LayerRow::name, &LayerRow::type}) {
    const auto from = unmatched_by(text, profile, used), to = unmatched_by(text, rows, has_match);
    for (const auto& [words, at] : to) {
      const auto same = from.find(words);
      if (same == from.end() || same->second.size() != at.size()) continue;
      for (std::size_t k = 0; k < at.size(); ++k) {
        const auto& time = profile[same->second[k]].time_ns;
        if (time) rows[at[k]].times_ns.push_back(*time);
        has_match[at[k]] = used[same->second[k]] = true;
      }
    }
  }
}

constexpr std::array kLayerColumns{"index",       "name",    "type",  "precision",
                                   "model_layer", "time_ns", "share", "times_ns"};
constexpr std::size_t kNeededColumns = 7;  // older files end with the share

// Cells of one line by the file's columns.
class LayerLine {
 public:
  LayerLine(const std::vector<std::string>& heads, const std::vector<std::string>& cells, std::string place)
      : place_(std::move(place)) {
    if (heads.size() != cells.size())
      throw Error(ErrorCode::kData,
                  fmt::format("{}: {} cells instead of {}", place_, cells.size(), heads.size()));
    for (std::size_t i = 0; i < heads.size(); ++i) cells_[heads[i]] = cells[i];
  }
  [[nodiscard]] LayerRow row() const {
    LayerRow row{text("name"),        text("type"),      text("precision"),
                 text("model_layer"), number("time_ns"), number("share")};
    for (const auto& time : split(text("times_ns"), ' '))
      if (!time.empty()) row.times_ns.push_back(parsed(time));
    return row;
  }

 private:
  [[nodiscard]] std::string text(const char* column) const {
    const auto at = cells_.find(column);
    return at == cells_.end() ? std::string() : at->second;
  }
  [[nodiscard]] Number number(const char* column) const {
    const auto cell = text(column);
    return cell.empty() ? Number::missing("the file has no such number") : Number(parsed(cell));
  }
  [[nodiscard]] double parsed(const std::string& cell) const {
    if (const auto value = parse_double(cell); value && *value >= 0) return *value;
    throw Error(ErrorCode::kData, fmt::format("{}: '{}' is no time or share", place_, cell));
  }

  std::string place_;
  std::map<std::string, std::string> cells_;
};

}  // namespace

std::vector<LayerRow> merged_profiles(const std::vector<std::vector<LayerRow>>& profiles) {
  if (profiles.empty()) return {};
  auto rows = profiles.back();
  for (auto& row : rows) row.times_ns.clear();
  for (const auto& one : profiles) add_profile(rows, one);
  for (auto& row : rows)
    if (!row.times_ns.empty()) row.time_ns = stats::median(row.times_ns);
  return rows;
}

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
  auto out = fmt::format("{}\n", fmt::join(kLayerColumns, ","));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& r = rows[i];
    out += fmt::format("{},{},{},{},{},{},{},{:.9g}\n", i, csv_cell(r.name), csv_cell(r.type),
                       csv_cell(r.precision), csv_cell(r.model_layer), csv_cell(r.time_ns), csv_cell(r.share),
                       fmt::join(r.times_ns, " "));
  }
  return out;
}

std::vector<LayerRow> read_layers_csv(const std::filesystem::path& path) {
  const auto lines = csv_rows(read_stored(path, Foreign::kRows));
  if (lines.empty() || lines[0].size() < kNeededColumns ||
      !std::equal(kLayerColumns.begin(), kLayerColumns.begin() + kNeededColumns, lines[0].begin()))
    throw Error(ErrorCode::kData, fmt::format("'{}' is not a file of layers: its first line should be {}",
                                              path.string(), fmt::join(kLayerColumns, ",")));
  std::vector<LayerRow> rows;
  for (std::size_t i = 1; i < lines.size(); ++i)
    rows.push_back(LayerLine(lines[0], lines[i], fmt::format("{}:{}", path.string(), i + 1)).row());
  return rows;
}

}  // namespace paceline::result
