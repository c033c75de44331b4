// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answer/plot.h"

// Tables, charts and sections as values; each form has one renderer for them (answer/render). All texts are
// plain; the renderers escape them.
namespace paceline::answer {

inline constexpr const char* kNone = "–";  // a cell without a figure
inline constexpr std::size_t kNoNumbers = std::string::npos;

enum class Form { kTerminal, kMarkdown, kPage };

struct Cell {
  Cell(std::string words, std::string classes = {}) : text(std::move(words)), css(std::move(classes)) {}
  Cell(const char* words) : text(words) {}
  std::string text;
  std::string css;   // on the page: its classes
  std::string note;  // why there is no figure; below the table of a text, where the cell has a mark
  std::string
      brief;  // on a terminal beside a note, or where the text does not fit and its rest becomes a note
  // On the page:
  std::string badge;                  // classes of a frame around its text
  std::string link;                   // the id that the text leads to
  std::string code;                   // follows the text
  std::string fold, folded;           // details behind a summary
  std::optional<double> sorted_by{};  // of a cell with a figure
};
Cell linked(std::string text, std::string link);

enum class Tone { kPlain, kFaint, kWarning, kProblem };  // colours on a terminal

struct Row {
  std::vector<Cell> cells;
  std::string instead{};  // words in place of figures; they span the columns that it has no cells for
  Tone tone = Tone::kPlain;
  std::string id{};  // on the page
};

struct Table {
  std::string above{};  // a line over the table: what all its rows share
  std::vector<std::string> heads{};
  std::size_t numbers_from = 1, numbers_to = kNoNumbers;  // columns of figures are right-aligned
  std::vector<Row> rows{};
  // On a terminal:
  std::size_t labels = 0;           // the first column are labels, shortened to this width
  std::vector<std::size_t> most{};  // wider cells lose their middle; 0: the column is as wide as it needs
  std::size_t columns_kept = 1;     // however narrow it is
  std::size_t stays = kNoNumbers;   // a column that outlives those before it
  bool last_stays = false;  // the last column outlives those before it, and may be longer than its head
  // On the page:
  std::string css{};
  bool row_heads = false;  // the first cell of a row is its heading
  bool sortable = false;   // only the table of cases is

  [[nodiscard]] bool is_number(std::size_t column) const {
    return column >= numbers_from && column < numbers_to;
  }
  void add(std::vector<Cell> cells) { rows.push_back({.cells = std::move(cells)}); }
  template <class... Texts>
  void add(Texts&&... texts) {
    auto& cells = rows.emplace_back().cells;
    cells.reserve(sizeof...(texts));
    (cells.emplace_back(std::forward<Texts>(texts)), ...);
  }
};

// Moves the words that all labels in the first column share above the table.
void share_labels(Table& table);

// A table of names and values.
Table rows_table(const std::vector<std::pair<std::string, std::string>>& rows);

// Plots with their reading and the metric whose formula it leads to.
struct Chart {
  std::string id, title, reading, metric;  // without a reading the page leaves it out
  Plots plots{};
  std::string of_case{};  // the id of the one case that it shows
};

struct Section {
  std::string title{};  // on the page; texts have a heading for each subject
  std::vector<std::string> warnings{};
  Chart chart{};
  Table table{};
  std::vector<std::string> paragraphs{};
  std::string metric{};          // the paragraphs' formula
  std::string command{}, log{};  // of a program, as it stands
  std::vector<std::string> notes{};
  bool aside = false;  // a terminal leaves it out: another section has its gist
};
using Sections = std::vector<Section>;

}  // namespace paceline::answer
