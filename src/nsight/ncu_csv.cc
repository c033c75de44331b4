// SPDX-License-Identifier: MIT
#include "nsight/ncu_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::nsight {
namespace {

using Row = std::vector<std::string>;

// RFC 4180 with any separator: quoted fields may hold separators, line ends and doubled quotes. `whole`:
// false for a last row that ends inside quotes; `broken`: rows that lack a quote.
struct Table {
  std::vector<Row> rows;
  bool whole = true;
  std::size_t broken = 0;
};

class CsvReader {
 public:
  CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {}

  Table read() {
    while (at_ < text_.size()) take();
    table_.whole = !quoted_;
    if (!field_.empty() || !row_.empty()) end_row();
    return std::move(table_);
  }

 private:
  [[nodiscard]] char behind(std::size_t n) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }

  void take() {
    const char c = text_[at_];
    if (c == '"' && quoted_ && behind(1) == '"') {
      field_ += c;
      ++at_;
    } else if (c == '"') {
      quoted_ = !quoted_;
    } else if (c == separator_ && !quoted_) {
      end_field();
    } else if (c == '\n' && quoted_ && row_begins_behind()) {
      ++table_.broken;
      quoted_ = false;
      field_.clear(), row_.clear();
    } else if (c == '\n' && !quoted_) {
      end_row();
    } else if (c != '\r' || quoted_) {
      field_ += c;
    }
    ++at_;
  }

  // Inside quotes: a quote behind a line end closes the field, or is doubled. With something else behind it,
  // it opens one, and the row before lacks a quote. So does a call's number, as rows without quotes begin.
  [[nodiscard]] bool row_begins_behind() const {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (behind(1) == '"') return is_digit(behind(2));
    std::size_t digits = 0;
    while (is_digit(behind(1 + digits))) ++digits;
    return digits > 0 && behind(1 + digits) == separator_ && is_digit(behind(2 + digits));
  }
  void end_field() {
    if (++cells_ > kNsightCells)
      throw Error(ErrorCode::kData, fmt::format("a table of more than {} cells is not read", kNsightCells));
    row_.push_back(std::move(field_));
    field_.clear();
  }
  void end_row() {
    end_field();
    if (row_.size() > 1 || !row_[0].empty()) table_.rows.push_back(std::move(row_));
    row_.clear();
  }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0, cells_ = 0;
  Table table_;
  Row row_;
  std::string field_;
  bool quoted_ = false;
};

// The table from its header on; what the profiler and the program print comes before it.
struct TableText {
  std::string_view text;
  char separator = ',';
};

// Separator beside the heading "Kernel Name" in a line; none: it has no such heading.
std::optional<char> separator_in(std::string_view line) {
  constexpr std::string_view kName = "Kernel Name", kSeparators = ",;\t";
  const auto at = line.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  auto before = line.substr(0, at), behind = line.substr(at + kName.size());
  if (before.ends_with('"') && behind.starts_with('"')) before.remove_suffix(1), behind.remove_prefix(1);
  for (const char c : kSeparators)
    if ((before.empty() || before.ends_with(c)) &&
        (behind.empty() || behind.starts_with(c) || behind.starts_with('\r')) &&
        (!before.empty() || behind.starts_with(c)))
      return c;
  return std::nullopt;
}

TableText from_header(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    const std::size_t mark = line.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // some programs begin UTF-8 with it
    line.remove_prefix(mark);
    if (const auto separator = separator_in(line)) return {text.substr(begin + mark), *separator};
    begin = end + 1;
  }
  return {};
}

// Without lines of the profiler that stand between rows.
std::string without_notes(std::string_view text) {
  std::string kept;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = text.substr(begin, end - begin);
    if (!line.starts_with("==")) kept.append(line).push_back('\n');
    begin = end + 1;
  }
  return kept;
}

// Separators of groups of digits and of decimals in one file: "1,234.5", "1.234,5", "1 234,5".
struct Separators {
  char group = ',', decimal = '.';
};

bool is_numeric(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,' +-eE") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

// Derives them from one number if it is unambiguous: both marks, one mark twice, or digits behind a mark that
// are no group of three.
std::optional<Separators> separators_in(std::string_view number) {
  const auto point = number.rfind('.'), comma = number.rfind(',');
  constexpr auto kNone = std::string_view::npos;
  if (point != kNone && comma != kNone) return point > comma ? Separators{',', '.'} : Separators{'.', ','};
  if (point == kNone && comma == kNone) return std::nullopt;
  const char mark = point != kNone ? '.' : ',', other = mark == '.' ? ',' : '.';
  const auto at = point != kNone ? point : comma;
  if (number.find(mark) != at) return Separators{mark, other};
  constexpr std::size_t kGroup = 3;
  const bool grouped = number.size() - at - 1 == kGroup && at >= 1 && at <= kGroup && number[0] != '0';
  return grouped ? std::nullopt : std::optional(Separators{other, mark});
}

// Derives them from all numbers in these columns.
Separators separators_of(std::span<const Row> rows, const std::vector<std::size_t>& columns,
                         const std::string& file) {
  std::optional<Separators> known;
  for (const auto& row : rows)
    for (const auto column : columns) {
      const auto found =
          column < row.size() && is_numeric(row[column]) ? separators_in(row[column]) : std::nullopt;
      if (found && known && found->decimal != known->decimal)
        throw Error(
            ErrorCode::kData,
            fmt::format("{}: '.' and ',' have two meanings in its numbers; write it again with LC_ALL=C",
                        shown_path(file)));
      if (found) known = found;
    }
  return known.value_or(Separators{});
}

std::optional<double> number_in(std::string text, Separators marks) {
  std::erase_if(text, [&](char c) { return c == marks.group || c == ' ' || c == '\''; });
  std::ranges::replace(text, marks.decimal, '.');
  return is_numeric(text) ? parse_double(text) : std::nullopt;
}

struct Unit {
  std::string_view name;
  double factor;
};
// Spellings of several releases; percent stays percent.
constexpr std::array kUnits{Unit{"ns", 1},
                            Unit{"nsecond", 1},
                            Unit{"us", 1e3},
                            Unit{"usecond", 1e3},
                            Unit{"ms", 1e6},
                            Unit{"msecond", 1e6},
                            Unit{"s", 1e9},
                            Unit{"second", 1e9},
                            Unit{"byte", 1},
                            Unit{"Kbyte", 1e3},
                            Unit{"Mbyte", 1e6},
                            Unit{"Gbyte", 1e9},
                            Unit{"byte/second", 1},
                            Unit{"Kbyte/second", 1e3},
                            Unit{"Mbyte/second", 1e6},
                            Unit{"Gbyte/second", 1e9},
                            Unit{"Tbyte/second", 1e12},
                            Unit{"byte/s", 1},
                            Unit{"Kbyte/s", 1e3},
                            Unit{"Mbyte/s", 1e6},
                            Unit{"Gbyte/s", 1e9},
                            Unit{"Tbyte/s", 1e12},
                            Unit{"hz", 1},
                            Unit{"Khz", 1e3},
                            Unit{"Mhz", 1e6},
                            Unit{"Ghz", 1e9},
                            Unit{"cycle/nsecond", 1e9}};

double factor_of(std::string_view unit) {
  const auto found = std::ranges::find(kUnits, unit, &Unit::name);
  return found == kUnits.end() ? 1 : found->factor;
}

constexpr std::array<std::string_view, 11> kDescribing{
    "ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
    "Stream", "Block Size", "Grid Size",    "Device",    "CC"};

class Reader {
 public:
  Reader(Table table, const std::string& name) : table_(std::move(table)), name_(name) {
    for (std::size_t i = 0; i < header().size(); ++i) columns_.try_emplace(header()[i], i);
    drop_cut_row();
    drop_other_lines();
    if (table_.broken > 0)
      file_.remarks.push_back(fmt::format("{} with a missing quote: left out",
                                          plural(static_cast<std::int64_t>(table_.broken), "row")));
  }

  NcuFile read() {
    if (!columns_.contains("ID"))
      throw Error(
          ErrorCode::kData,
          fmt::format("{}: the table has no column \"ID\", which distinguishes calls", shown_path(name_)));
    marks_ = separators_of(std::span(table_.rows).subspan(1), value_columns(), name_);
    if (columns_.contains("Metric Name"))
      read_details();
    else
      read_raw();
    if (file_.launches.empty())
      throw Error(ErrorCode::kData,
                  fmt::format("{}: it has the heading of Nsight Compute, and no kernel", shown_path(name_)));
    return std::move(file_);
  }

 private:
  [[nodiscard]] const Row& header() const { return table_.rows.front(); }

  [[nodiscard]] std::vector<std::size_t> value_columns() const {
    const auto value = columns_.find("Metric Value");
    if (value != columns_.end()) return {value->second};
    std::vector<std::size_t> columns;
    for (const auto& [name, at] : columns_)
      if (std::ranges::find(kDescribing, name) == kDescribing.end()) columns.push_back(at);
    return columns;
  }

  // A file that was cut ends inside a row.
  void drop_cut_row() {
    if (table_.rows.size() < 2 || (table_.whole && table_.rows.back().size() == header().size())) return;
    table_.rows.pop_back();
    file_.remarks.emplace_back("the file ends inside a row, which is left out");
  }

  // The profiled program prints between the rows.
  void drop_other_lines() {
    const auto width = header().size();
    const auto other = [width](const Row& row) { return row.size() != width; };
    const auto dropped = std::erase_if(table_.rows, other);
    if (dropped > 0)
      file_.remarks.push_back(
          fmt::format("{} of another form: left out", plural(static_cast<std::int64_t>(dropped), "line")));
  }

  [[nodiscard]] std::string cell(const Row& row, std::string_view column) const {
    const auto at = columns_.find(column);
    return at == columns_.end() || at->second >= row.size() ? "" : row[at->second];
  }

  KernelLaunch& launch_of(const Row& row) {
    const auto id = cell(row, "Process ID") + "/" + cell(row, "ID");
    const auto [at, is_new] = places_.try_emplace(id, file_.launches.size());
    if (is_new)
      file_.launches.push_back(
          {cell(row, "ID"), cell(row, "Kernel Name"), cell(row, "Device"), cell(row, "Stream"), {}});
    return file_.launches[at->second];
  }

  void add(KernelLaunch& launch, const std::string& metric, const std::string& unit,
           const std::string& text) {
    if (const auto value = number_in(text, marks_))
      launch.metrics.try_emplace(metric, *value * factor_of(unit));
  }

  // "Memory Throughput" is a share in one section, and bytes per second in another.
  void read_details() {
    for (std::size_t i = 1; i < table_.rows.size(); ++i) {
      const auto& row = table_.rows[i];
      const auto unit = cell(row, "Metric Unit"), metric = cell(row, "Metric Name");
      auto& launch = launch_of(row);
      if (!metric.empty())
        add(launch, unit.ends_with("/second") || unit.ends_with("/s") ? metric + " per second" : metric, unit,
            cell(row, "Metric Value"));
    }
  }

  // The row below the header has the units.
  void read_raw() {
    if (table_.rows.size() < 2) return;
    const auto units = table_.rows[1];
    const bool has_units = cell(units, "ID").empty();
    for (std::size_t i = has_units ? 2 : 1; i < table_.rows.size(); ++i) {
      const auto& row = table_.rows[i];
      auto& launch = launch_of(row);
      for (const auto& [name, at] : columns_)
        if (std::ranges::find(kDescribing, name) == kDescribing.end())
          add(launch, name, has_units ? units[at] : "", row[at]);
    }
  }

  Table table_;
  const std::string& name_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::map<std::string, std::size_t> places_;
  Separators marks_;
  NcuFile file_;
};

}  // namespace

NcuFile parse_ncu_csv(std::string_view text, const std::string& name) {
  const auto table = from_header(text);
  if (table.text.empty())
    throw Error(
        ErrorCode::kData,
        fmt::format("{}: no table of Nsight Compute: no column \"Kernel Name\"; write one with: ncu --import "
                    "REPORT.ncu-rep --csv --page raw",
                    shown_path(name)));
  const auto rows = without_notes(table.text);
  return Reader(CsvReader(rows, table.separator).read(), name).read();
}

}  // namespace paceline::nsight
