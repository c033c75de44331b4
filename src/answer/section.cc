// SPDX-License-Identifier: MIT
#include "answer/section.h"

#include "answer/text_layout.h"

namespace paceline::answer {

Cell linked(std::string text, std::string link) {
  Cell cell(std::move(text));
  cell.link = std::move(link);
  return cell;
}

void share_labels(Table& table) {
  std::vector<std::string> labels;
  for (const Row& row : table.rows) labels.push_back(row.cells.front().text);
  auto split = split_shared(labels);
  table.above = std::move(split.shared);
  for (std::size_t at = 0; at < labels.size(); ++at) table.rows[at].cells.front().text = split.own[at];
}

Table rows_table(const std::vector<std::pair<std::string, std::string>>& rows) {
  Table table{.numbers_from = kNoNumbers, .css = "rows", .row_heads = true};
  for (const auto& [name, value] : rows) table.add(name, value);
  return table;
}

}  // namespace paceline::answer
