// SPDX-License-Identifier: MIT
#include "base/arrival_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/bounded_json.h"
#include "base/csv_rows.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/lower_case.h"
#include "base/sha256.h"
#include "base/text.h"

namespace paceline {
namespace {

constexpr std::array<std::string_view, 5> kColumns{"timestamp", "arrival", "time", "arrival_time",
                                                   "arrival_timestamp"};
constexpr const char* kKey = "timestamp";  // of JSON lines

struct Unit {
  std::string_view name;
  double per_s;
};
constexpr std::array kUnits{Unit{"s", 1}, Unit{"ms", 1e3}, Unit{"us", 1e6}, Unit{"ns", 1e9}};
constexpr Unit kSeconds = kUnits[0], kMilliseconds = kUnits[1], kDate{"date", 1};

// Content of one line, or of several where quotes of a CSV go on.
struct Line {
  std::string_view text;
  std::size_t number = 0;
};

// Hands out lines that are neither empty nor comments.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  std::optional<Line> next(bool quotes = false) {
    while (at_ < text_.size()) {
      Line line{{}, number_ + 1};
      const auto begin = at_;
      const auto end = end_of_line(quotes);
      at_ = end + 1;
      line.text = trim(text_.substr(begin, end - begin));
      if (!line.text.empty() && line.text.front() != '#') return line;
    }
    return std::nullopt;
  }

 private:
  std::size_t end_of_line(bool quotes) {
    const auto first = text_.find_first_not_of(" \t\r", at_);
    if (first != std::string_view::npos && text_[first] == '#') quotes = false;  // of a comment
    bool open = false;
    std::size_t end = at_;
    for (; end < text_.size(); ++end) {
      if (quotes && text_[end] == '"') open = !open;
      if (text_[end] != '\n') continue;
      ++number_;
      if (!open) break;
    }
    return end;
  }

  std::string_view text_;
  std::size_t at_ = 0, number_ = 0;
};

// Where a file is read, for messages.
struct Place {
  std::string_view name;
  [[noreturn]] void refuse(std::size_t line, const std::string& why) const {
    throw Error(ErrorCode::kData, fmt::format("schedule '{}', line {}: {}", shown_path(name), line, why));
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kData, fmt::format("schedule '{}' {}", shown_path(name), why));
  }
};

// How one kind of file says a time.
struct TimeReader {
  std::string format;
  Unit unit = kSeconds;
  std::function<double(const Line&)> time_of;  // in `unit`
  bool quotes = false;                         // around line ends
};

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  if (text.size() < at + count) return std::nullopt;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// Seconds since 1970 of "2023-11-16 18:15:46.68", also with "Z" or "+00:00" behind it.
std::optional<double> date_and_time(std::string_view text) {
  constexpr std::size_t kWithoutFraction = 19;  // characters
  using std::chrono::day, std::chrono::month, std::chrono::year, std::chrono::sys_days;
  const auto y = digits(text, 0, 4), mo = digits(text, 5, 2), d = digits(text, 8, 2), h = digits(text, 11, 2),
             mi = digits(text, 14, 2), s = digits(text, 17, 2);
  if (!y || !mo || !d || !h || !mi || !s || text[4] != '-' || text[7] != '-' || text[13] != ':' ||
      text[16] != ':' || (text[10] != ' ' && text[10] != 'T'))
    return std::nullopt;
  const auto date = year{*y} / month(static_cast<unsigned>(*mo)) / day(static_cast<unsigned>(*d));
  if (!date.ok() || *h > 23 || *mi > 59 || *s > 60) return std::nullopt;
  auto fraction = text.substr(kWithoutFraction);
  for (const std::string_view zone : {"Z", "+00:00"})
    if (fraction.ends_with(zone)) fraction.remove_suffix(zone.size());
  const auto rest = fraction.empty() ? std::optional(0.0) : parse_double(fmt::format("0{}", fraction));
  if (!rest || (!fraction.empty() && fraction.front() != '.')) return std::nullopt;
  return static_cast<double>(sys_days(date).time_since_epoch().count()) * 86'400 + *h * 3600 + *mi * 60 + *s +
         *rest;
}

TimeReader text_reader(const Place& place) {
  return {"text", kSeconds, [place](const Line& line) {
            if (const auto value = parse_double(line.text)) return *value;
            place.refuse(line.number, fmt::format("'{}' is no time in seconds", shown_value(line.text)));
          }};
}

TimeReader json_reader(const Place& place) {
  return {"JSON lines", kMilliseconds, [place](const Line& line) {
            const auto json = json_or_discarded(line.text);
            if (!json.is_object())
              place.refuse(line.number, fmt::format("'{}' is no JSON object", shown_value(line.text)));
            const auto found = json.find(kKey);
            if (found == json.end())
              place.refuse(line.number, fmt::format("no '{}' in '{}'; each line needs one, in milliseconds",
                                                    kKey, shown_value(line.text)));
            if (!found->is_number())
              place.refuse(line.number, fmt::format("'{}' is '{}' and no number of milliseconds", kKey,
                                                    shown_value(found->dump())));
            return found->get<double>();
          }};
}

// A column of times and its unit, which its name may end with: "time_ms".
struct Column {
  std::string name;
  std::size_t index = 0;
  Unit unit = kSeconds;
};

std::optional<Column> column_of(const std::string& name, std::size_t index) {
  const auto lower = lower_case(std::string(trim(name)));
  for (const auto known : kColumns) {
    if (lower == known) return Column{lower, index, kSeconds};
    for (const auto& unit : kUnits)
      if (lower == fmt::format("{}_{}", known, unit.name)) return Column{lower, index, unit};
  }
  return std::nullopt;
}

// The column of times in a header; of several the first.
std::optional<Column> find_column(const std::vector<std::string>& header) {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (auto column = column_of(header[i], i)) return column;
  return std::nullopt;
}

std::string cell_of(const Line& line, const Column& column, const Place& place) {
  const auto rows = csv_rows(line.text);
  if (rows.size() != 1 || rows.front().size() <= column.index)
    place.refuse(line.number, fmt::format("'{}' has no column {}, which is '{}'", shown_value(line.text),
                                          column.index + 1, column.name));
  return std::string(trim(rows.front()[column.index]));
}

// The first line of times tells whether they are dates.
TimeReader csv_reader(Column column, const std::optional<Line>& first, const Place& place) {
  const bool dates = first && date_and_time(cell_of(*first, column, place));
  if (dates) column.unit = kDate;
  const auto words =
      dates ? "date and time, e.g. 2026-01-31 18:15:46.5" : fmt::format("number, in {}", column.unit.name);
  return {fmt::format("CSV, column {}", column.name), column.unit,
          [=](const Line& line) {
            const auto cell = cell_of(line, column, place);
            if (const auto value = dates ? date_and_time(cell) : parse_double(cell)) return *value;
            place.refuse(line.number,
                         fmt::format("'{}' in column '{}' is no {}", shown_value(cell), column.name, words));
          },
          true};
}

[[noreturn]] void refuse_first_line(const Line& line, const Place& place) {
  place.refuse(
      line.number,
      fmt::format("'{}' is no time in seconds, no JSON with a '{}' and no header of a CSV; a CSV needs a "
                  "column timestamp, arrival or time (also time_ms, _us, _ns)",
                  shown_value(line.text), kKey));
}

// Tells the kind by the first line, behind which `lines` stand afterwards where it is no time.
TimeReader reader_for(Lines& lines, const Place& place) {
  const Lines begin = lines;
  const auto first = lines.next(true);
  if (!first) place.refuse("contains no time; write one per line, in seconds");
  if (first->text.front() == '{' || parse_double(first->text)) {
    lines = begin;
    return first->text.front() == '{' ? json_reader(place) : text_reader(place);
  }
  const auto rows = csv_rows(first->text);
  const auto column = rows.empty() ? std::nullopt : find_column(rows.front());
  if (!column) refuse_first_line(*first, place);
  Lines ahead = lines;
  return csv_reader(*column, ahead.next(true), place);
}

// A time as its file has it: "27482 ms".
std::string in_unit(double value, const Unit& unit) {
  return unit.name == kDate.name ? fmt::format("{:.6f} s since 1970", value)
                                 : fmt::format("{} {}", value, unit.name);
}

void check_order(const Line& line, double value, double before, const Unit& unit, const Place& place) {
  if (value < 0) place.refuse(line.number, fmt::format("{} is negative", in_unit(value, unit)));
  if (value < before)
    place.refuse(line.number, fmt::format("{} comes after {}; the times must ascend", in_unit(value, unit),
                                          in_unit(before, unit)));
}

}  // namespace

ArrivalFile parse_arrivals(std::string_view text, std::string_view name) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  const Place place{name};
  if (text.find('\0') != std::string_view::npos || !is_utf8(text))
    place.refuse("is no text; write one time per line, in seconds");
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Lines lines(text);
  const TimeReader reader = reader_for(lines, place);
  ArrivalFile file{reader.format, std::string(reader.unit.name), {}};
  double first = 0, before = 0;
  while (const auto line = lines.next(reader.quotes)) {
    const double value = reader.time_of(*line);
    check_order(*line, value, before, reader.unit, place);
    if (file.seconds.size() == kMostArrivals)
      place.refuse(line->number, fmt::format("more than {} times; split the schedule", kMostArrivals));
    if (file.seconds.empty()) first = value;
    before = value;
    file.seconds.push_back((value - first) / reader.unit.per_s);
  }
  if (file.seconds.empty()) place.refuse("has a header and no time below it");
  if (file.seconds.size() == 1) place.refuse("contains one time; at least two are needed");
  if (file.length_s() <= 0)
    place.refuse(
        fmt::format("contains the same time {} times; use --scenario offline for requests that "
                    "arrive together",
                    file.seconds.size()));
  return file;
}

std::size_t due_within(const ArrivalFile& file, double limit_s, double rate_per_s) {
  const auto& times = file.seconds;
  if (rate_per_s > 0)
    return static_cast<std::size_t>(
        std::min(static_cast<double>(times.size()), std::floor(limit_s * rate_per_s + 1e-9) + 1));
  return static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), limit_s) - times.begin());
}

std::string times_digest(const ArrivalFile& file, bool scaled) {
  constexpr std::size_t kDigits = 16;
  constexpr double kPerSecond = 1e6, kPerGap = 1e3;  // dates as doubles are not known to less than 0.3 µs
  constexpr double kNearHalf = 0.4876543;            // recorded times are often exactly half a step
  const double gap = file.length_s() / static_cast<double>(file.seconds.size() - 1);
  std::vector<double> times;
  times.reserve(file.seconds.size());
  for (const double time : file.seconds)
    times.push_back(scaled ? std::floor(time / gap * kPerGap + kNearHalf) : std::round(time * kPerSecond));
  const auto bytes = std::as_bytes(std::span(times));
  return sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).substr(0, kDigits);
}

ArrivalFile read_arrivals(const std::filesystem::path& file) {
  return parse_arrivals(read_stored(file, Foreign::kSchedule), file.string());
}

}  // namespace paceline
