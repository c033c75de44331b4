// SPDX-License-Identifier: MIT
#include "result/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/reading.h"
#include "base/text.h"

namespace paceline::result {
namespace {

constexpr std::string_view kHeader = "repetition,rank,index,start_ns,host_ns,device_ns,flags";
constexpr std::string_view kRequestHeader =
    ",queue_ns,input_ns,compute_ns,output_ns,issue_delay_ns,batch,instance";
constexpr std::size_t kColumns = 7, kRequestColumns = 14;
constexpr std::size_t kOldRequestColumns = 12;  // in files of version 0.1, which lack the last two

using Optional = std::optional<std::int64_t> Sample::*;
constexpr std::array<Optional, 7> kRequestFields{
    &Sample::queue_ns,       &Sample::input_ns, &Sample::compute_ns, &Sample::output_ns,
    &Sample::issue_delay_ns, &Sample::batch,    &Sample::instance};

bool has_requests(const std::vector<Sample>& samples) {
  return std::any_of(samples.begin(), samples.end(), [](const Sample& s) {
    return s.lost() || std::any_of(kRequestFields.begin(), kRequestFields.end(),
                                   [&](Optional field) { return (s.*field).has_value(); });
  });
}

std::string full_header() {
  return std::string(kHeader) + std::string(kRequestHeader);
}

// The number of columns of a file with this first line; 0: it is not a sample file.
std::size_t columns_of(std::string_view header) {
  const std::string full = full_header();
  const auto columns = static_cast<std::size_t>(std::count(header.begin(), header.end(), ',')) + 1;
  const bool known = columns == kColumns || columns == kOldRequestColumns || columns == kRequestColumns;
  const bool whole =
      header.size() == full.size() || (header.size() < full.size() && full[header.size()] == ',');
  return known && whole && full.starts_with(header) ? columns : 0;
}

// A row with as many columns as the file has.
class RowParser {
 public:
  RowParser(std::string_view line, std::size_t columns, std::string place)
      : line_(line), cells_(split(line, ',')), place_(std::move(place)) {
    if (cells_.size() != columns)
      throw Error(ErrorCode::kData, fmt::format("{}: a sample row has {} columns, this has {}", place_,
                                                columns, cells_.size()));
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
    for (std::size_t i = 0; kColumns + i < cells_.size(); ++i)
      s.*kRequestFields.at(i) = optional(kColumns + i);
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
  return split(has_requests(samples) ? full_header() : std::string(kHeader), ',');
}

std::string samples_to_csv(const std::vector<Sample>& samples) {
  fmt::memory_buffer buffer;
  const auto out = std::back_inserter(buffer);
  const bool requests = has_requests(samples);
  fmt::format_to(out, "{}{}\n", kHeader, requests ? kRequestHeader : "");
  for (const auto& s : samples) {
    fmt::format_to(out, "{},{},{},{}", s.repetition, s.rank, s.index, s.start_ns);
    append_optional(out, s.lost() ? std::nullopt : std::optional(s.host_ns));
    append_optional(out, s.device_ns);
    fmt::format_to(out, ",{}", s.flags);
    if (requests)
      for (const auto field : kRequestFields) append_optional(out, s.*field);
    fmt::format_to(out, "\n");
  }
  return fmt::to_string(buffer);
}

std::vector<Sample> read_samples_csv(const std::filesystem::path& path) {
  const std::string text = read_regular_file(path);
  std::vector<Sample> samples;
  std::size_t line_number = 0, columns = kColumns;
  for (std::size_t begin = 0; begin < text.size(); ++line_number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line_number == 0) {
      columns = columns_of(line);
      if (columns == 0)
        throw Error(ErrorCode::kData, fmt::format("'{}' is not a sample file: its first line should be {}",
                                                  path.string(), kHeader));
    } else if (!line.empty()) {
      samples.push_back(
          RowParser(line, columns, fmt::format("{}:{}", path.string(), line_number + 1)).sample());
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
