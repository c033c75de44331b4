// SPDX-License-Identifier: MIT
#include "report/layer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"
#include "report/escape.h"
#include "report/simple_table.h"
#include "report/text_layout.h"

namespace paceline::report {
namespace {

using result::CaseResult;
using result::LayerProfile;
using result::LayerRow;

constexpr std::array<std::string_view, 6> kHeads{"layer",         "type", "precision",
                                                 "model's layer", "ms",   "share"};
constexpr std::size_t kNumbersFrom = 4;
constexpr std::size_t kMaxLayer = 26, kMaxType = 18, kMaxModel = 21;  // on a terminal of 100 columns

using LayerCells = std::array<std::string, kHeads.size()>;

std::string or_dash(const std::string& text) {
  return text.empty() ? kNone : text;
}

LayerCells layer_cells(const LayerRow& row) {
  return {or_dash(row.name),
          or_dash(row.type),
          or_dash(row.precision),
          or_dash(row.model_layer),
          row.time_ns ? format_ms(*row.time_ns) : kNone,
          row.share ? format_percent(*row.share) : kNone};
}

std::vector<LayerCells> terminal_rows(const LayerProfile& profile) {
  LayerCells heads;
  for (std::size_t i = 0; i < kHeads.size(); ++i) heads[i] = kHeads[i];
  std::vector<LayerCells> rows{heads};
  for (const auto& row : profile.top) {
    rows.push_back(layer_cells(row));
    auto& cells = rows.back();
    cells[0] = truncate_middle(printable(cells[0]), kMaxLayer);
    cells[1] = truncate_middle(printable(cells[1]), kMaxType);
    cells[3] = truncate_middle(printable(cells[3]), kMaxModel);
  }
  return rows;
}

std::string terminal_table_of(const LayerProfile& profile, std::size_t width) {
  const auto rows = terminal_rows(profile);
  std::array<std::size_t, kHeads.size()> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += "  " + (i < kNumbersFrom ? pad_right(row[i], widths[i]) : pad_left(row[i], widths[i]));
    line.erase(line.find_last_not_of(' ') + 1);
    out += truncate(line, width) + "\n";
  }
  return out;
}

std::string markdown_table_of(const LayerProfile& profile) {
  if (profile.top.empty()) return {};
  std::string out = "|";
  for (const auto head : kHeads) out += fmt::format(" {} |", head);
  out += "\n|:--|:--|:--|:--|--:|--:|\n";
  for (const auto& row : profile.top) out += markdown_row(layer_cells(row));
  return out + "\n";
}

std::string layer_html_row(const LayerRow& row) {
  const auto cells = layer_cells(row);
  std::string out = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += fmt::format("<td{}>{}</td>", i < kNumbersFrom ? "" : " class=\"number\"", escape_html(cells[i]));
  return out + "</tr>\n";
}

std::string html_table_of(const LayerProfile& profile) {
  if (profile.top.empty()) return {};
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>";
  for (std::size_t i = 0; i < kHeads.size(); ++i)
    out += fmt::format("<th{}>{}</th>", i < kNumbersFrom ? "" : " class=\"number\"", kHeads[i]);
  out += "</tr></thead><tbody>\n";
  for (const auto& row : profile.top) out += layer_html_row(row);
  return out + "</tbody></table></div>\n";
}

std::string of_latency_text(const CaseResult& one) {
  const auto& profile = one.layer_profile;
  if (!profile.of_latency) return {};
  return fmt::format(", {} of the measured {}", format_percent(*profile.of_latency, 0),
                     format_duration_ns(*one.headline.p50_ns.value));
}

}  // namespace

std::string layer_sum_text(const CaseResult& one) {
  const auto& profile = one.layer_profile;
  if (!profile.asked) return {};
  if (!profile.sum_ns) return "no times of layers: " + profile.reason;
  return fmt::format("{} layers, together {}{} ({}s of {} inferences; {})", *profile.layers,
                     format_duration_ns(*profile.sum_ns), of_latency_text(one), profile.statistic,
                     *profile.inferences, profile.source);
}

std::string_view layer_caveat() {
  return "Profiling slows an engine down, small layers most, and what happens between layers is in none of "
         "them: read the shares, not the sum. Every layer is in layers.csv.";
}

std::string layers_terminal(const result::RunResult& run, std::size_t width) {
  std::string out;
  for (const auto& one : run.cases) {
    const std::string text = layer_sum_text(one);
    if (text.empty()) continue;
    out += "\nlayers of " + printable(one.label) + "\n";
    if (!one.layer_profile.top.empty()) out += terminal_table_of(one.layer_profile, width);
    for (const auto& line : wrap(printable(text), width)) out += "  " + line + "\n";
  }
  if (out.empty()) return out;
  for (const auto& line : wrap(layer_caveat(), width)) out += "  " + line + "\n";
  return out;
}

std::string layers_markdown(std::span<const ReportRun> runs) {
  std::string out;
  for (const ReportCase& entry : side_by_side(runs)) {
    const std::string text = layer_sum_text(*entry.one);
    if (text.empty()) continue;
    if (out.empty()) out = fmt::format("## Layers\n\n{}\n\n", layer_caveat());
    const std::string of = entry.letter.empty() ? "" : " (run " + entry.letter + ")";
    out += fmt::format("### {}{}\n\n{}\n\n", escape_markdown(entry.one->label), of, escape_markdown(text));
    out += markdown_table_of(entry.one->layer_profile);
  }
  return out;
}

std::string layers_html(const CaseResult& one) {
  const std::string text = layer_sum_text(one);
  if (text.empty()) return {};
  return fmt::format("<h4>The longest layers</h4>\n{}<p>{}</p><p class=\"note\">{}</p>\n",
                     html_table_of(one.layer_profile), escape_html(text), escape_html(layer_caveat()));
}

}  // namespace paceline::report
