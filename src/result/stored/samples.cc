// SPDX-License-Identifier: MIT
#include "result/stored/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <span>

#include "base/error.h"
#include "base/foreign_text.h"
#include "base/reading.h"
#include "base/text.h"

namespace paceline::result {
namespace {

constexpr std::string_view kHeader = "repetition,rank,index,start_ns,host_ns,device_ns,flags";
constexpr std::size_t kColumns = 7;

// Columns behind those of every file: of requests, or of inferences on a device.
struct Column {
  std::string_view name;
  std::optional<std::int64_t> Sample::*field;
};
constexpr std::array<Column, 7> kRequestColumns{{{"queue_ns", &Sample::queue_ns},
                                                 {"input_ns", &Sample::input_ns},
                                                 {"compute_ns", &Sample::compute_ns},
                                                 {"output_ns", &Sample::output_ns},
                                                 {"issue_delay_ns", &Sample::issue_delay_ns},
                                                 {"batch", &Sample::batch},
                                                 {"instance", &Sample::instance}}};
constexpr std::array<Column, 4> kDeviceColumns{{{"enqueue_ns", &Sample::enqueue_ns},
                                                {"input_ns", &Sample::input_ns},
                                                {"compute_ns", &Sample::compute_ns},
                                                {"output_ns", &Sample::output_ns}}};

using Columns = std::span<const Column>;

Columns columns_for(const std::vector<Sample>& samples) {
  const auto any = [&](auto is) { return std::any_of(samples.begin(), samples.end(), is); };
  if (any([](const Sample& s) { return s.enqueue_ns.has_value(); })) return kDeviceColumns;
  const bool requests = any([](const Sample& s) {
    return s.lost() || std::any_of(kRequestColumns.begin(), kRequestColumns.end(),
                                   [&](const Column& column) { return (s.*column.field).has_value(); });
  });
  return requests ? Columns(kRequestColumns) : Columns();
}

std::string header_of(Columns columns) {
  std::string header(kHeader);
  for (const auto& column : columns) header.append(",").append(column.name);
  return header;
}

// Empty for a file with another first line.
std::optional<Columns> columns_of(std::string_view header) {
  for (const auto& columns : {Columns(), Columns(kRequestColumns), Columns(kDeviceColumns)})
    if (header == header_of(columns)) return columns;
  return std::nullopt;
}

// A row with as many columns as the file has.
class RowParser {
 public:
  RowParser(std::string_view line, Columns columns, std::string place)
      : line_(line), columns_(columns), cells_(split(line, ',')), place_(std::move(place)) {
    if (cells_.size() != kColumns + columns.size())
      throw Error(ErrorCode::kData, fmt::format("{}: a sample row has {} columns, this has {}", place_,
                                                kColumns + columns.size(), cells_.size()));
  }

  [[nodiscard]] Sample sample() const {
    Sample s;
    s.flags = static_cast<std::uint32_t>(number(6));
    s.repetition = static_cast<std::int32_t>(number(0));
    s.rank = static_cast<std::int32_t>(number(1));
    s.index = number(2);
    s.start_ns = number(3);
    if (!s.lost()) s.host_ns = number(4);
    s.device_ns = optional(5);
    for (std::size_t i = 0; i < columns_.size(); ++i) s.*columns_[i].field = optional(kColumns + i);
    return s;
  }

 private:
  [[nodiscard]] std::int64_t number(std::size_t i) const {
    const auto value = parse_int(cells_[i]);
    if (!value)
      throw Error(ErrorCode::kData, fmt::format("{}: '{}' is not a sample row ({})", place_, line_, kHeader));
    return *value;
  }
  [[nodiscard]] std::optional<std::int64_t> optional(std::size_t i) const {
    return cells_[i].empty() ? std::nullopt : std::optional(number(i));
  }

  std::string_view line_;
  Columns columns_;
  std::vector<std::string> cells_;
  std::string place_;
};

template <class Out>
void append_optional(Out out, const std::optional<std::int64_t>& value) {
  if (value)
    fmt::format_to(out, ",{}", *value);
  else
    fmt::format_to(out, ",");
}

}  // namespace

std::vector<std::string> sample_columns(const std::vector<Sample>& samples) {
  return split(header_of(columns_for(samples)), ',');
}

std::string samples_to_csv(const std::vector<Sample>& samples) {
  fmt::memory_buffer buffer;
  const auto out = std::back_inserter(buffer);
  const auto columns = columns_for(samples);
  fmt::format_to(out, "{}\n", header_of(columns));
  for (const auto& s : samples) {
    fmt::format_to(out, "{},{},{},{}", s.repetition, s.rank, s.index, s.start_ns);
    append_optional(out, s.lost() ? std::nullopt : std::optional(s.host_ns));
    append_optional(out, s.device_ns);
    fmt::format_to(out, ",{}", s.flags);
    for (const auto& column : columns) append_optional(out, s.*column.field);
    fmt::format_to(out, "\n");
  }
  return fmt::to_string(buffer);
}

std::vector<Sample> read_samples_csv(const std::filesystem::path& path) {
  const std::string text = read_stored(path, Foreign::kRows);
  std::vector<Sample> samples;
  std::size_t line_number = 0;
  std::optional<Columns> columns;
  for (std::size_t begin = 0; begin < text.size(); ++line_number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line_number == 0) {
      columns = columns_of(line);
      if (!columns)
        throw Error(ErrorCode::kData, fmt::format("'{}' is not a sample file: its first line should be {}",
                                                  path.string(), kHeader));
    } else if (!line.empty()) {
      samples.push_back(
          RowParser(line, *columns, fmt::format("{}:{}", path.string(), line_number + 1)).sample());
    }
  }
  if (line_number == 0) throw Error(ErrorCode::kData, fmt::format("'{}' is empty", path.string()));
  return samples;
}

std::vector<double> durations_ns(const std::vector<Sample>& samples, int repetition) {
  std::vector<double> out;
  for (const auto& s : samples)
    if (s.counts() && !s.lost() && (repetition < 0 || s.repetition == repetition))
      out.push_back(static_cast<double>(s.host_ns));
  return out;
}

std::vector<double> latencies_ns(const std::vector<Sample>& samples, int repetition) {
  std::vector<double> out;
  for (const auto& s : samples)
    if (s.counts() && (repetition < 0 || s.repetition == repetition))
      out.push_back(s.lost() ? std::numeric_limits<double>::infinity() : static_cast<double>(s.host_ns));
  return out;
}

}  // namespace paceline::result
