// SPDX-License-Identifier: MIT
#include "answer/render/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "answer/render/escape.h"
#include "base/display_text.h"
#include "base/lower_case.h"

namespace paceline::answer {
namespace {

std::string markdown_row(std::span<const Cell> cells) {
  std::string row = "|";
  for (const auto& cell : cells) row += " " + escape_markdown(cell.text) + " |";
  return row + "\n";
}

// The reasons why cells have no figure, each once.
std::string notes_text(const Table& table) {
  std::string out;
  for (const Row& row : table.rows)
    for (const Cell& cell : row.cells) {
      std::string note = escape_markdown(cell.note);
      if (note.empty()) continue;
      note.front() = upper_case(note.front());
      if (note += ".\n\n"; out.find(note) == std::string::npos) out += note;
    }
  return out;
}

}  // namespace

std::string bare_markdown_of(const Table& table) {
  const std::size_t columns = table.heads.size();
  std::string out = table.above.empty() ? "" : escape_markdown(table.above) + "\n\n";
  out += markdown_row(std::vector<Cell>(table.heads.begin(), table.heads.end())) + "|";
  for (std::size_t at = 0; at < columns; ++at) out += table.is_number(at) ? "--:|" : ":--|";
  out += "\n";
  for (const Row& row : table.rows) {
    auto cells = row.cells;
    while (cells.size() < columns) cells.emplace_back(cells.size() + 1 < columns ? kNone : row.instead);
    out += markdown_row(cells);
  }
  return out + "\n" + notes_text(table);
}

std::string markdown_of(const Table& table) {
  return table.rows.empty() ? "" : bare_markdown_of(table);
}

std::string code_span(const std::string& text) {
  const auto shown = without_controls(text, "");
  std::size_t longest = 0, row = 0;
  for (const char c : shown) longest = std::max(longest, row = c == '`' ? row + 1 : 0);
  const std::string ticks(longest + 1, '`'), gap = longest > 0 ? " " : "";
  return ticks + gap + shown + gap + ticks;
}

}  // namespace paceline::answer
