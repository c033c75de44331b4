// SPDX-License-Identifier: MIT
#include "answer/render/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "answer/text_layout.h"
#include "base/display_text.h"
#include "base/text.h"

namespace paceline::answer {
namespace {

constexpr std::size_t kGap = 2;

constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kReset = "\x1b[0m";
constexpr std::array<std::string_view, 4> kColours{"", kDim, "\x1b[33m", "\x1b[31m"};  // of each Tone
constexpr std::array<std::string_view, 10> kDigits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

class TableLayout {
 public:
  TableLayout(const Table& table, const TerminalOptions& options, std::size_t indent)
      : table_(table), options_(options), indent_(indent) {
    for (const auto& head : table.heads) heads_.push_back(on_one_line(head));
    for (const Row& row : table.rows) texts_.push_back(texts_of(row));
    const auto labels = first_cells();
    if (table.labels > 0) shorten(labels, table.labels);
    fit();
    if (columns_.size() < heads_.size()) number_again();
    if (table.labels > 0) use_free_columns(labels);
    if (table.last_stays) shorten_last();
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& line : wrap(shown(on_one_line(table_.above), options_), options_.width))
      if (!line.empty()) out += painted(std::string(indent_, ' ') + line, kDim);
    out += painted(line_of(heads_, ""), kBold);
    for (std::size_t at = 0; at < texts_.size(); ++at)
      out += painted(line_of(texts_[at], on_one_line(table_.rows[at].instead)),
                     kColours.at(static_cast<std::size_t>(table_.rows[at].tone)));
    for (std::size_t at = 0; at < notes_.size(); ++at)
      for (const auto& line : wrap(shown(mark_of(at + 1) + " " + notes_[at], options_), options_.width))
        out += painted(line, kDim);
    return out;
  }

 private:
  using Texts = std::vector<std::string>;

  [[nodiscard]] std::string painted(const std::string& line, std::string_view colour) const {
    return options_.colour && !colour.empty() ? fmt::format("{}{}{}\n", colour, line, kReset) : line + "\n";
  }

  [[nodiscard]] std::string mark_of(std::size_t number) const {
    if (options_.ascii) return fmt::format("[{}]", number);
    std::string text;
    for (const char digit : std::to_string(number)) text += kDigits.at(static_cast<std::size_t>(digit - '0'));
    return text;
  }

  // The mark of a note below the table, where each stands once.
  std::string mark(const std::string& note) { return mark_of(place_of(note, notes_) + 1); }

  // Text of a cell with a note.
  std::string noted(const Cell& cell) {
    return (cell.brief.empty() ? std::string(kNone) : on_one_line(cell.brief)) + mark(on_one_line(cell.note));
  }

  Texts texts_of(const Row& row) {
    Texts texts;
    for (const Cell& cell : row.cells) {
      const auto most = texts.size() < table_.most.size() ? table_.most[texts.size()] : 0;
      const auto text = on_one_line(cell.text);
      texts.push_back(!cell.note.empty() ? noted(cell) : most > 0 ? truncate_middle(text, most) : text);
    }
    return texts;
  }

  [[nodiscard]] Texts first_cells() const {
    Texts cells;
    for (const auto& row : texts_) cells.push_back(row.front());
    return cells;
  }

  void shorten(const Texts& labels, std::size_t width) {
    const auto shorter = short_labels(labels, width);
    for (std::size_t at = 0; at < shorter.size(); ++at) texts_[at].front() = shorter[at];
  }

  // No label is cut as long as the line has columns left.
  void use_free_columns(const Texts& labels) {
    if (total() >= options_.width) return;
    shorten(labels, widths_.front() + options_.width - total());
    for (const auto& cell : first_cells())
      widths_.front() = std::max(widths_.front(), display_width(shown(cell, options_)));
  }

  // Widths follow the contents; then columns are left out from the right until the rest fits.
  void fit() {
    for (std::size_t at = 0; at < heads_.size(); ++at) {
      widths_.push_back(display_width(heads_[at]));
      columns_.push_back(at);
      if (table_.last_stays && at + 1 == heads_.size()) break;
      for (const auto& row : texts_)
        if (at < row.size()) widths_[at] = std::max(widths_[at], display_width(shown(row[at], options_)));
    }
    while (columns_.size() > table_.columns_kept && total() > options_.width) columns_.erase(least());
  }

  // The notes of columns that were left out go with them.
  void number_again() {
    notes_.clear();
    for (std::size_t at = 0; at < texts_.size(); ++at)
      for (const auto column : columns_)
        if (column < texts_[at].size() && !table_.rows[at].cells[column].note.empty())
          texts_[at][column] = noted(table_.rows[at].cells[column]);
  }

  // The rightmost column but those that stay as long as there are others.
  std::vector<std::size_t>::iterator least() {
    const auto kept = columns_.begin() + static_cast<std::ptrdiff_t>(table_.columns_kept);
    for (auto at = columns_.end(); at != kept; --at) {
      const std::size_t column = *(at - 1);
      const bool last = table_.last_stays && column + 1 == heads_.size();
      if (!last && column != table_.stays) return at - 1;
    }
    return columns_.end() - 1;
  }

  // Moves text that does not fit into the last column to a note below the table.
  void shorten_last() {
    const std::size_t last = heads_.size() - 1;
    if (columns_.back() != last) return;
    const std::size_t room = options_.width - (total() - widths_[last]);
    for (std::size_t at = 0; at < texts_.size(); ++at) {
      if (texts_[at].size() <= last || display_width(texts_[at][last]) <= room) continue;
      const auto brief = on_one_line(table_.rows[at].cells[last].brief);
      texts_[at][last] = brief + mark(std::string(trim(texts_[at][last].substr(brief.size()))));
    }
  }

  [[nodiscard]] std::size_t total() const {
    std::size_t sum = indent_;
    for (const auto at : columns_) sum += widths_[at] + kGap;
    return sum - kGap;
  }

  [[nodiscard]] std::string line_of(const Texts& texts, const std::string& instead) const {
    std::string line(indent_, ' ');
    for (const auto at : columns_) {
      if (at >= texts.size()) continue;
      const std::string cell = shown(texts[at], options_), gap(kGap, ' ');
      line += (table_.is_number(at) ? pad_left(cell, widths_[at]) : pad_right(cell, widths_[at])) + gap;
    }
    line += shown(instead, options_);
    line.erase(line.find_last_not_of(' ') + 1);
    line = shown(truncate(line, options_.width), options_);
    return options_.ascii ? line.substr(0, options_.width) : line;
  }

  const Table& table_;
  const TerminalOptions& options_;
  std::size_t indent_;
  Texts heads_;
  std::vector<Texts> texts_;
  Texts notes_;
  std::vector<std::size_t> widths_, columns_;  // columns: those that fit
};

}  // namespace

std::string shown(const std::string& text, const TerminalOptions& options) {
  return options.ascii ? to_ascii(text) : text;
}

std::string wrapped(const std::string& text, const TerminalOptions& options, std::size_t indent) {
  std::string out;
  for (const auto& line : wrap(shown(on_one_line(text), options), options.width))
    out += std::string(indent, ' ') + line + "\n";
  return out;
}

TerminalOptions within_limits(TerminalOptions options) {
  constexpr std::size_t kLeastWidth = 20, kMostWidth = 120;
  options.width = std::clamp(options.width, kLeastWidth, kMostWidth);
  return options;
}

std::string bare_terminal_of(const Table& table, const TerminalOptions& options, std::size_t indent) {
  return TableLayout(table, options, indent).text();
}

std::string terminal_of(const Table& table, const TerminalOptions& options, std::size_t indent) {
  return table.rows.empty() ? "" : bare_terminal_of(table, options, indent);
}

}  // namespace paceline::answer
