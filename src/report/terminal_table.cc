// SPDX-License-Identifier: MIT
#include "report/terminal_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/case_query.h"
#include "analysis/closing_sentence.h"
#include "analysis/finding_table.h"
#include "report/case_cells.h"
#include "report/cross_check_text.h"
#include "report/layer_text.h"
#include "report/operator_text.h"
#include "report/text_layout.h"
#include "report/training_text.h"

namespace paceline::report {
namespace {

using result::CaseResult;
using result::RunResult;

constexpr std::size_t kMaxWidth = 100;
constexpr std::size_t kMaxLabel = 36;
constexpr std::size_t kColumnsKept = 2;  // case and p50
constexpr std::size_t kGap = 2;

constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kRed = "\x1b[31m", kYellow = "\x1b[33m",
                           kReset = "\x1b[0m";
constexpr std::array<std::string_view, 10> kDigits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

std::string superscript(std::size_t number) {
  std::string text;
  for (const char digit : std::to_string(number)) text += kDigits.at(static_cast<std::size_t>(digit - '0'));
  return text;
}

struct Column {
  std::string head;
  bool right = true;
  std::size_t width = 0;
};

struct Row {
  std::vector<std::string> cells;
  std::string instead;  // the reason of a case without numbers; spans the columns after the first
  std::string_view colour;
};

// Notes under the table, each text once; returns the mark that refers to it.
class Footnotes {
 public:
  explicit Footnotes(bool ascii) : ascii_(ascii) {}
  std::string mark(const std::string& text) {
    auto found = std::find(texts_.begin(), texts_.end(), text);
    if (found == texts_.end()) found = texts_.insert(texts_.end(), text);
    const auto number = static_cast<std::size_t>(found - texts_.begin()) + 1;
    return ascii_ ? fmt::format("[{}]", number) : superscript(number);
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  bool ascii_;
  std::vector<std::string> texts_;
};

class Table {
 public:
  Table(std::span<const ReportRun> runs, const TerminalOptions& options)
      : options_(options),
        several_(runs.size() > 1),
        kept_(shows_kept(runs)),
        width_(std::clamp<std::size_t>(options.width, 20, kMaxWidth)),
        notes_(options.ascii) {
    add_columns(runs.front().result);
    const auto cases = side_by_side(runs);
    std::vector<std::string> labels;
    for (const ReportCase& entry : cases) labels.push_back(printable(entry.one->label));
    labels = short_labels(labels, kMaxLabel);
    for (std::size_t at = 0; at < cases.size(); ++at) rows_.push_back(row_of(cases[at], labels[at]));
    fit();
    shorten_grades();
  }

  [[nodiscard]] std::string text() {
    std::string out = paint(line_of(heads(), ""), kBold) + "\n";
    for (const Row& row : rows_) out += paint(line_of(row.cells, row.instead), row.colour) + "\n";
    for (const std::string& note : notes_.texts())
      for (const std::string& line : wrap(shown(notes_.mark(note) + " " + note), width_))
        out += paint(line, kDim) + "\n";
    return out;
  }

 private:
  void add_columns(const RunResult& run) {
    columns_.push_back({"case", false});
    if (several_) columns_.push_back({"run", false});
    for (const std::string& head :
         {std::string("p50 ms"), std::string("p99 ms"), throughput_head(run), std::string("vs baseline")})
      columns_.push_back({head});
    if (kept_) columns_.push_back({"top-1 kept"});
    columns_.push_back({"memory"});
    columns_.push_back({"foreign"});
    columns_.push_back({"grade", false});
  }

  Row row_of(const ReportCase& entry, const std::string& label) {
    const CaseResult& one = *entry.one;
    Row row;
    row.cells = {label};
    if (several_) row.cells.push_back(entry.letter);
    row.instead = printable(outcome_text(one));
    if (row.instead.empty())
      add_numbers(row, cells_of(entry.run->result, one), one);
    else
      row.colour = one.outcome == result::Outcome::kFailed ? kRed : kDim;
    return row;
  }

  void add_numbers(Row& row, const CaseCells& cells, const CaseResult& one) {
    if (one.grade != result::Grade::kA) row.colour = one.grade == result::Grade::kB ? kYellow : kRed;
    const std::string p99 =
        cells.p99_ms.empty() ? "–" + notes_.mark("no p99: " + p99_reason(one)) : cells.p99_ms;
    std::string speedup = cells.speedup.empty() ? "–" : cells.speedup;
    if (!cells.no_claim.empty()) speedup += notes_.mark("no claim: " + printable(cells.no_claim));
    std::vector<std::string> texts{cells.p50_ms, p99, cells.throughput, speedup};
    if (kept_) texts.push_back(cells.kept);
    texts.push_back(cells.memory);
    texts.push_back(cells.foreign);
    for (const std::string& cell : texts) row.cells.push_back(cell.empty() ? "–" : cell);
    row.cells.push_back(printable(grade_text(one, kReasonsShown)));
  }

  // Widths follow the contents; then columns are dropped from the right until the rest fits, the grade last.
  void fit() {
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      columns_[at].width = display_width(columns_[at].head);
      for (const Row& row : rows_)
        if (at < row.cells.size())
          columns_[at].width = std::max(columns_[at].width, display_width(shown(row.cells[at])));
    }
    columns_.back().width = display_width(columns_.back().head);
    const std::size_t kept = kColumnsKept + (several_ ? 1 : 0);
    while (columns_.size() > kept && total() > width_)
      drop(columns_.size() - (columns_.size() > kept + 1 ? 2 : 1));
  }

  void drop(std::size_t at) {
    columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(at));
    for (Row& row : rows_)
      if (at < row.cells.size()) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // Reasons that do not fit into the last column become notes below the table.
  void shorten_grades() {
    if (columns_.back().head != "grade") return;
    const std::size_t room = width_ - (total() - columns_.back().width);
    for (Row& row : rows_) {
      if (row.cells.size() < columns_.size() || display_width(row.cells.back()) <= room) continue;
      row.cells.back() = row.cells.back().substr(0, 1) + notes_.mark(row.cells.back().substr(3));
    }
  }

  [[nodiscard]] std::size_t total() const {
    std::size_t sum = 0;
    for (const Column& column : columns_) sum += column.width + kGap;
    return sum - kGap;
  }

  [[nodiscard]] std::vector<std::string> heads() const {
    std::vector<std::string> names;
    for (const Column& column : columns_) names.push_back(column.head);
    return names;
  }

  [[nodiscard]] std::string line_of(const std::vector<std::string>& cells, const std::string& instead) const {
    std::string line;
    for (std::size_t at = 0; at < std::min(cells.size(), columns_.size()); ++at) {
      const std::string cell = shown(cells[at]);
      line += columns_[at].right ? pad_left(cell, columns_[at].width) : pad_right(cell, columns_[at].width);
      line += std::string(kGap, ' ');
    }
    line += shown(instead);
    line.erase(line.find_last_not_of(' ') + 1);
    return shown(line, width_);
  }

  [[nodiscard]] std::string shown(const std::string& text, std::size_t width = std::string::npos) const {
    std::string cut = width == std::string::npos ? text : truncate(text, width);
    if (!options_.ascii) return cut;
    return to_ascii(cut).substr(0, width);
  }

  [[nodiscard]] std::string paint(const std::string& text, std::string_view colour) const {
    if (!options_.colour || colour.empty()) return text;
    return std::string(colour) + text + std::string(kReset);
  }

  TerminalOptions options_;
  bool several_;
  bool kept_;  // whether there is a column of kept answers
  std::size_t width_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
  Footnotes notes_;
};

std::string extras_text(const RunResult& run, const TerminalOptions& options) {
  const auto width = std::clamp<std::size_t>(options.width, 20, kMaxWidth) - 2;
  const std::string text = training_terminal(run, width) + operators_terminal(run, width) +
                           cross_checks_terminal(run, width) + layers_terminal(run, width);
  return options.ascii ? to_ascii(text) : text;
}

std::string findings_text(const RunResult& run, const TerminalOptions& options) {
  const auto findings = analysis::rank_findings(findings_of(run));
  if (findings.empty()) return {};
  std::string out = "\nfindings\n";
  const std::size_t width = std::clamp<std::size_t>(options.width, 20, kMaxWidth) - 5;
  int number = 0;
  for (const auto& finding : findings) {
    std::string text = printable(finding.text);
    if (!finding.advice.empty()) text += " " + printable(finding.advice);
    if (options.ascii) text = to_ascii(text);
    std::string lead = fmt::format("{:>3}  ", ++number);
    for (const std::string& line : wrap(text, width)) out += std::exchange(lead, "     ") + line + "\n";
  }
  return out;
}

// The text after an empty line; nothing for an empty text.
std::string paragraph(const std::string& text, const TerminalOptions& options) {
  if (text.empty()) return {};
  const std::string shown = options.ascii ? to_ascii(printable(text)) : printable(text);
  std::string out = "\n";
  for (const std::string& line : wrap(shown, std::clamp<std::size_t>(options.width, 20, kMaxWidth)))
    out += line + "\n";
  return out;
}

std::string legend(std::span<const ReportRun> runs) {
  std::string out;
  for (std::size_t index = 0; index < runs.size(); ++index) {
    const RunResult& run = runs[index].result;
    out += fmt::format("{}  {}  {}  {}\n", run_letter(index), printable(title_of(run)), run.run_id,
                       run.started_utc);
  }
  return out + "\n";
}

}  // namespace

std::string terminal_table(std::span<const ReportRun> runs, const TerminalOptions& options) {
  if (runs.empty()) return {};
  std::string out = runs.size() > 1 ? legend(runs) : "";
  out += Table(runs, options).text();
  for (const ReportRun& run : runs) {
    out += extras_text(run.result, options) + findings_text(run.result, options);
    out += paragraph(analysis::closing_sentence(run.result), options);
    out += paragraph(analysis::unfinished_text(run.result), options);
  }
  return out;
}

std::string terminal_table(const RunResult& run, const TerminalOptions& options) {
  const ReportRun only{run, {}};
  return terminal_table(std::span(&only, 1), options);
}

}  // namespace paceline::report
