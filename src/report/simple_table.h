// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Renders a table of texts in the forms that reports have. Each form escapes the plain text of cells.
namespace paceline::report {

inline constexpr const char* kNone = "–";  // a cell without a figure

struct SimpleTable {
  std::vector<std::string> heads;
  std::size_t numbers_from = 1;  // columns from here on are right-aligned
  std::vector<std::vector<std::string>> rows;
};

// Two blanks before every column; columns that do not fit into `width` are left out. Empty without rows, as
// are the other forms.
std::string terminal_of(const SimpleTable& table, std::size_t width);
std::string markdown_of(const SimpleTable& table);
std::string html_of(const SimpleTable& table);
std::string markdown_row(std::span<const std::string> cells);  // one line

}  // namespace paceline::report
