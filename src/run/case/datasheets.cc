// SPDX-License-Identifier: MIT
#include "run/case/datasheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace paceline::run {
namespace {

constexpr std::string_view kHeader = "device,fp32,tf32,fp16,bf16,fp8,int8,memory_gb_per_s,source";
constexpr std::array kSheetPrecisions{"fp32", "tf32", "fp16", "bf16", "fp8", "int8"};

Datasheet parse_row(const std::vector<std::string>& cells, const std::string& place) {
  constexpr std::size_t kMemory = kSheetPrecisions.size() + 1, kSource = kMemory + 1;
  if (cells.size() != kSource + 1)
    throw Error(ErrorCode::kData,
                fmt::format("{}: {} cells instead of {} ({})", place, cells.size(), kSource + 1, kHeader));
  const auto number = [&](std::size_t at) -> std::optional<double> {
    const auto cell = trim(cells[at]);
    if (cell.empty()) return std::nullopt;
    const auto value = parse_double(cell);
    if (!value || *value <= 0)
      throw Error(ErrorCode::kData, fmt::format("{}: '{}' is not a positive number", place, cell));
    return value;
  };
  Datasheet sheet{std::string(trim(cells[0])), std::string(trim(cells[kSource])), {}, {}};
  for (std::size_t i = 0; i < kSheetPrecisions.size(); ++i)
    if (const auto tera = number(i + 1)) sheet.flops_per_s.emplace_back(kSheetPrecisions.at(i), *tera * 1e12);
  const auto memory = number(kMemory);
  sheet.memory_bytes_per_s =
      memory ? Number(*memory * 1e9) : Number::missing("its row has no memory bandwidth");
  return sheet;
}

result::DevicePeak& peak_of(result::DevicePeaks& peaks, const char* operation, const std::string& variant) {
  const auto found = std::ranges::find_if(
      peaks.peaks, [&](const auto& one) { return one.operation == operation && one.variant == variant; });
  return found == peaks.peaks.end()
             ? peaks.peaks.emplace_back(result::DevicePeak{operation, variant, {}, {}, 0, {}})
             : *found;
}

}  // namespace

std::vector<Datasheet> parse_datasheets(std::string_view text, const std::string& name) {
  std::vector<Datasheet> table;
  bool headed = false;
  const auto lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto line = trim(lines[i]);
    if (line.empty() || line.starts_with('#')) continue;
    const auto place = fmt::format("{}:{}", name, i + 1);
    if (!headed && line != kHeader)
      throw Error(ErrorCode::kData, fmt::format("{}: the first line should be {}", place, kHeader));
    if (headed) table.push_back(parse_row(split(line, ','), place));
    headed = true;
  }
  return table;
}

std::filesystem::path datasheets_file() {
  return executable_dir().parent_path() / "share" / "paceline" / "device_peaks.csv";
}

void add_datasheet(result::DevicePeaks& peaks, const std::vector<Datasheet>& table) {
  const auto sheet = std::ranges::find(table, peaks.device, &Datasheet::device);
  if (sheet == table.end()) return;
  for (const auto& [precision, flops_per_s] : sheet->flops_per_s)
    peak_of(peaks, result::kProduct, precision).datasheet_per_s = flops_per_s;
  if (sheet->memory_bytes_per_s)
    peak_of(peaks, result::kCopy, result::kWithinDevice).datasheet_per_s = sheet->memory_bytes_per_s;
}

}  // namespace paceline::run
