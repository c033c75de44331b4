// SPDX-License-Identifier: MIT
#include "report/section.h"

namespace paceline::report {

Cell linked(std::string text, std::string link) {
  Cell cell(std::move(text));
  cell.link = std::move(link);
  return cell;
}

Cell classed(std::string text, std::string css) {
  Cell cell(std::move(text));
  cell.css = std::move(css);
  return cell;
}

Table rows_table(const std::vector<std::pair<std::string, std::string>>& rows) {
  Table table{.numbers_from = kNoNumbers, .css = "rows", .row_heads = true};
  for (const auto& [name, value] : rows) table.add({name, value});
  return table;
}

}  // namespace paceline::report
