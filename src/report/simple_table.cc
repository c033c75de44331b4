// SPDX-License-Identifier: MIT
#include "report/simple_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/escape.h"
#include "report/text_layout.h"

namespace paceline::report {
namespace {

using Cells = std::vector<std::string>;

std::vector<std::size_t> widths_of(const SimpleTable& table) {
  std::vector<std::size_t> widths;
  for (const auto& head : table.heads) widths.push_back(display_width(head));
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths.at(i) = std::max(widths.at(i), display_width(printable(row[i])));
  return widths;
}

// How many columns, from the left and at least one, fit into a line.
std::size_t columns_within(const std::vector<std::size_t>& widths, std::size_t width) {
  std::size_t columns = 0, used = 0;
  while (columns < widths.size() && (used += 2 + widths[columns]) <= width) ++columns;
  return std::max<std::size_t>(columns, 1);
}

// One line with as many cells as there are widths.
std::string line_of(const Cells& cells, const std::vector<std::size_t>& widths, std::size_t numbers_from) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const auto cell = printable(cells[i]);
    line += "  " + (i < numbers_from ? pad_right(cell, widths[i]) : pad_left(cell, widths[i]));
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string html_row(const Cells& cells, std::size_t numbers_from, const char* tag) {
  std::string out = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += fmt::format("<{0}{1}>{2}</{0}>", tag, i < numbers_from ? "" : " class=\"number\"",
                       escape_html(cells[i]));
  return out + "</tr>\n";
}

}  // namespace

std::string markdown_row(std::span<const std::string> cells) {
  std::string row = "|";
  for (const auto& cell : cells) row += " " + escape_markdown(cell) + " |";
  return row + "\n";
}

std::string terminal_of(const SimpleTable& table, std::size_t width) {
  if (table.rows.empty()) return {};
  auto widths = widths_of(table);
  widths.resize(columns_within(widths, width));
  std::string out = truncate(line_of(table.heads, widths, table.numbers_from), width) + "\n";
  for (const auto& row : table.rows) out += truncate(line_of(row, widths, table.numbers_from), width) + "\n";
  return out;
}

std::string markdown_of(const SimpleTable& table) {
  if (table.rows.empty()) return {};
  std::string out = markdown_row(table.heads) + "|";
  for (std::size_t i = 0; i < table.heads.size(); ++i) out += i < table.numbers_from ? ":--|" : "--:|";
  out += "\n";
  for (const auto& row : table.rows) out += markdown_row(row);
  return out + "\n";
}

std::string html_of(const SimpleTable& table) {
  if (table.rows.empty()) return {};
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table><thead>" +
                    html_row(table.heads, table.numbers_from, "th") + "</thead><tbody>\n";
  for (const auto& row : table.rows) out += html_row(row, table.numbers_from, "td");
  return out + "</tbody></table></div>\n";
}

}  // namespace paceline::report
