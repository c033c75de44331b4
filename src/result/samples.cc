// SPDX-License-Identifier: MIT
#include "result/samples.h"

#include <fmt/format.h>

#include <iterator>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace paceline::result {
namespace {

constexpr std::string_view kHeader = "repetition,rank,index,start_ns,host_ns,device_ns,flags";

Sample parse_row(std::string_view line, const std::string& place) {
  const auto cells = split(line, ',');
  const auto number = [&](std::size_t i) {
    const auto value = i < cells.size() ? parse_int(cells[i]) : std::nullopt;
    if (!value)
      throw Error(ErrorCode::kData, fmt::format("{}: '{}' is not a sample row ({})", place, line, kHeader));
    return *value;
  };
  if (cells.size() != 7)
    throw Error(ErrorCode::kData,
                fmt::format("{}: a sample row has 7 columns, this has {}", place, cells.size()));
  Sample s;
  s.repetition = static_cast<std::int32_t>(number(0));
  s.rank = static_cast<std::int32_t>(number(1));
  s.index = number(2);
  s.start_ns = number(3);
  s.host_ns = number(4);
  if (!cells[5].empty()) s.device_ns = number(5);
  s.flags = static_cast<std::uint32_t>(number(6));
  return s;
}

}  // namespace

std::vector<std::string> sample_columns() {
  return split(kHeader, ',');
}

std::string samples_to_csv(const std::vector<Sample>& samples) {
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out), "{}\n", kHeader);
  for (const auto& s : samples) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},", s.repetition, s.rank, s.index, s.start_ns,
                   s.host_ns);
    if (s.device_ns) fmt::format_to(std::back_inserter(out), "{}", *s.device_ns);
    fmt::format_to(std::back_inserter(out), ",{}\n", s.flags);
  }
  return fmt::to_string(out);
}

std::vector<Sample> read_samples_csv(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  std::vector<Sample> samples;
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++line_number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line_number == 0) {
      if (line != kHeader)
        throw Error(ErrorCode::kData, fmt::format("'{}' is not a sample file: its first line should be {}",
                                                  path.string(), kHeader));
    } else if (!line.empty()) {
      samples.push_back(parse_row(line, fmt::format("{}:{}", path.string(), line_number + 1)));
    }
  }
  if (line_number == 0) throw Error(ErrorCode::kData, fmt::format("'{}' is empty", path.string()));
  return samples;
}

std::vector<double> durations_ns(const std::vector<Sample>& samples, int repetition) {
  std::vector<double> out;
  for (const auto& s : samples)
    if (repetition < 0 || s.repetition == repetition) out.push_back(static_cast<double>(s.host_ns));
  return out;
}

}  // namespace paceline::result
