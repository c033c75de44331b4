// SPDX-License-Identifier: MIT
#include "base/csv_rows.h"

#include <utility>

#include "base/csv_cell.h"

namespace paceline {
namespace {

// Collects cells and rows while a text is read.
class CsvRows {
 public:
  void add(char c) { cell_ += c; }
  void end_cell() {
    row_.push_back(unguarded_cell(cell_));
    cell_.clear();
  }
  void end_row() {
    if (row_.empty() && cell_.empty()) return;
    end_cell();
    rows_.push_back(std::move(row_));
    row_.clear();
  }
  std::vector<std::vector<std::string>> take() {
    end_row();
    return std::move(rows_);
  }

 private:
  std::string cell_;
  std::vector<std::string> row_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace

std::vector<std::vector<std::string>> csv_rows(std::string_view text) {
  CsvRows rows;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      rows.add(text[++i]);
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      rows.add(c);
    else if (c == ',')
      rows.end_cell();
    else if (c == '\n')
      rows.end_row();
    else if (c != '\r')
      rows.add(c);
  }
  return rows.take();
}

}  // namespace paceline
