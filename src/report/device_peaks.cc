// SPDX-License-Identifier: MIT
// Shows what devices do at best: measured, and of GPUs by their datasheets.
#include "result/stored/device_peaks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/roofline.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

using result::DevicePeak;
using result::DevicePeaks;

constexpr std::string_view kPeaksCaveat =
    "Measured: on a GPU the median of repetitions on random data, after a second of warm-up, with no other "
    "work of the run on it; on a CPU as the last column says. "
    "Datasheet: dense, at the boost clock, from share/paceline/device_peaks.csv.";

// "638 TFLOP/s", "215 GFLOP/s", "4.28 TB/s"
std::string rate_text(const DevicePeak& peak, const Number& per_s) {
  if (!per_s) return kNone;
  if (peak.operation != result::kCopy && *per_s < 1e12)
    return fmt::format("{} {}", format_significant(*per_s * 1e-9),
                       peak.variant == "int8" ? "GOP/s" : "GFLOP/s");
  if (peak.operation != result::kCopy)
    return fmt::format("{} {}", format_significant(*per_s * 1e-12),
                       peak.variant == "int8" ? "TOP/s" : "TFLOP/s");
  return *per_s < 1e12 ? format_significant(*per_s * 1e-9) + " GB/s"
                       : format_significant(*per_s * 1e-12) + " TB/s";
}

std::string share_of_datasheet(const DevicePeak& peak) {
  return peak.per_s && peak.datasheet_per_s ? format_percent(*peak.per_s / *peak.datasheet_per_s, 0) : kNone;
}

// "NVIDIA H200 (driver 580.65.06, power limit 700 W), measured 2026-…"
std::string heading(const DevicePeaks& peaks) {
  if (peaks.driver.empty() && !peaks.device.empty() && peaks.measured_utc)  // a CPU has none
    return fmt::format("{}, measured {}", peaks.device, *peaks.measured_utc);
  const auto limit = peaks.power_limit_w
                         ? fmt::format(", power limit {} W", format_fixed(*peaks.power_limit_w, 0))
                         : std::string();
  return fmt::format("{} (driver {}{}), {}", peaks.device.empty() ? "GPU of unknown name" : peaks.device,
                     peaks.driver.empty() ? "unknown" : peaks.driver, limit,
                     peaks.measured_utc ? "measured " + *peaks.measured_utc
                                        : "not measured: " + peaks.measured_utc.reason());
}

Section section_of_peaks(const DevicePeaks& peaks) {
  Table table{.above = heading(peaks),
              .heads = {"operation", "of", "measured", "datasheet", "share", "spread", "in"},
              .numbers_from = 2,
              .numbers_to = 6};
  for (const auto& peak : peaks.peaks)
    table.add(peak.operation, spaced(peak.variant), rate_text(peak, peak.per_s),
              rate_text(peak, peak.datasheet_per_s), share_of_datasheet(peak), percent_or_none(peak.spread),
              peak.detail.empty() ? kNone : peak.detail);
  return {.table = std::move(table)};
}

// One table per GPU, driver and power limit, or per CPU and number of threads.
Sections peak_sections(std::span<const ReportRun> runs, Form form) {
  if (form != Form::kPage) return {};
  std::vector<std::string> headings;
  std::vector<DevicePeaks> all;
  for (const auto& entry : side_by_side(runs)) {
    const auto& peaks = entry.one->device_peaks;
    if (!peaks || peaks->peaks.empty()) continue;
    const auto at = place_of(heading(*peaks), headings);
    if (at == all.size()) all.push_back(*peaks);
    add_lacking(all[at], *peaks);
  }
  Sections sections;
  for (const auto& peaks : all) sections.push_back(section_of_peaks(peaks));
  if (!sections.empty()) sections.back().notes = {std::string(kPeaksCaveat)};
  return sections;
}

}  // namespace

constexpr Subject kDevicePeaks{.id = "device-peaks",
                               .heading = "What the device does at best",
                               .behind_cases = true,
                               .of_runs = peak_sections};

}  // namespace paceline::report
