// SPDX-License-Identifier: MIT
// Writes text and numbers as cells of CSV.
#pragma once
#include <fmt/format.h>

#include <string>

#include "base/display_text.h"
#include "result/maybe.h"

namespace paceline::result {

// Quotes where necessary, so that a name with a comma stays one cell. Control characters but line ends and
// tabs are spelled out: a terminal may show the file.
inline std::string csv_cell(const std::string& given) {
  const auto text = without_controls(given, "\n\t");
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// An empty cell where there is no number.
inline std::string csv_cell(const Number& number) {
  return number ? fmt::format("{:.9g}", *number) : std::string();
}

}  // namespace paceline::result
