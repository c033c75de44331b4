// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

// Cells of each row of CSV as csv_cell writes it (RFC 4180); apostrophes in front of formulas are removed. A
// last row without a line end counts; empty lines do not. Quotes that are never closed reach to the end.
std::vector<std::vector<std::string>> csv_rows(std::string_view text);

}  // namespace paceline
