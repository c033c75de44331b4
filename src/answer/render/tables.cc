// SPDX-License-Identifier: MIT
#include "answer/render/tables.h"

#include <algorithm>

namespace paceline::answer {

Table checks_table(const std::vector<Check>& checks) {
  Table table{.heads = {"verdict", "check", "found"}, .numbers_from = kNoNumbers};
  const bool fixes = std::ranges::any_of(checks, [](const Check& check) { return !check.fix.empty(); });
  if (fixes) table.heads.emplace_back("what to do");
  for (const Check& check : checks) {
    const auto& traits = traits_of(check.verdict);
    std::vector<Cell> cells{Cell(std::string(traits.of_machine), std::string(traits.css)), check.name,
                            check.text};
    if (fixes) cells.emplace_back(check.fix);
    table.rows.push_back({.cells = std::move(cells), .tone = traits.tone});
  }
  return table;
}

}  // namespace paceline::answer
