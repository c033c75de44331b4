// SPDX-License-Identifier: MIT
// Writes text and numbers as cells of CSV.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/display_text.h"
#include "base/maybe.h"
#include "base/text.h"

namespace paceline {

// Whether a spreadsheet would take the text for a formula, which can read other cells and start programs.
// Leading apostrophes are skipped, so that unguarded_cell gives every text back; some programs skip blanks.
inline bool is_formula(std::string_view text) {
  const auto begin = text.find_first_not_of("' ");
  if (begin == std::string_view::npos) return false;
  const auto rest = text.substr(begin);
  return rest.size() > 1 && std::string_view("=+-@\t\r\n").find(rest[0]) != std::string_view::npos &&
         !parse_double(rest.substr(rest[0] == '+' ? 1 : 0));
}

// Quotes where necessary, so that a name with a comma stays one cell. Control characters but line ends and
// tabs are spelled out: a terminal may show the file. A formula gets an apostrophe in front, which makes it
// text in spreadsheets.
inline std::string csv_cell(const std::string& given) {
  auto text = without_controls(given, "\n\t");
  if (is_formula(text)) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// The text of a cell as it was before csv_cell, without the quotes.
inline std::string unguarded_cell(const std::string& cell) {
  return cell.starts_with('\'') && is_formula(cell) ? cell.substr(1) : cell;
}

// An empty cell where there is no number.
inline std::string csv_cell(const Number& number) {
  return number ? fmt::format("{:.9g}", *number) : std::string();
}

}  // namespace paceline
