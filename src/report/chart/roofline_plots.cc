// SPDX-License-Identifier: MIT
// The roofline of each kind of device: what its memory and its arithmetic allow, and where the cases stand.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/chart/plot_parts.h"
#include "report/roofline.h"

namespace paceline::report {
namespace {

// Factor for figures, and their unit then.
struct FlopUnit {
  double factor;
  std::string_view unit;
};
constexpr FlopUnit kTera{1e-12, "TFLOP/s"}, kGiga{1e-9, "GFLOP/s"};

// A CPU does some hundred GFLOP/s.
FlopUnit scale_of(const result::DevicePeaks& peaks) {
  const auto fast = [](const result::DevicePeak& one) {
    return one.operation != result::kCopy &&
           std::max(one.per_s.value().value_or(0), one.datasheet_per_s.value().value_or(0)) >= 1e12;
  };
  return std::ranges::any_of(peaks.peaks, fast) ? kTera : kGiga;
}

// From the left edge up along the memory's roof, and flat from where arithmetic is the limit.
std::vector<Point> roof_points(double bytes_per_s, double flops_per_s, double left, double right,
                               double factor) {
  if (bytes_per_s <= 0) return {{left, flops_per_s * factor}, {right, flops_per_s * factor}};
  const double ridge = flops_per_s / bytes_per_s;
  return {{std::min(left, ridge), std::min(left, ridge) * bytes_per_s * factor},
          {ridge, flops_per_s * factor},
          {std::max(right, ridge), flops_per_s * factor}};
}

Point point_of(const ReportCase& entry, const FlopUnit& scale) {
  const auto& flops = entry.one->flops;
  const auto place = roof_over(*entry.one);
  Point p{.x = *flops.flops_per_byte, .y = flops_per_gpu(*entry.one) * scale.factor};
  p.hint = fmt::format("{}\n{} {} at {} FLOP/byte", name_of(entry), format_significant(p.y), scale.unit,
                       format_significant(p.x));
  if (place) p.hint += fmt::format("\n{} of the {} roof", format_percent(place->share, 0), place->limit);
  return p;
}

constexpr double kWorthAPoint = 0.02;  // of the time of all kernels
constexpr std::size_t kMostKernels = 12;

// Kernels of a case, if known: the longest first. Their bytes are those of DRAM.
std::vector<Point> kernel_points(const ReportCase& entry, const FlopUnit& scale) {
  std::vector<Point> points;
  if (!entry.run) return points;
  const auto found = entry.run->kernels.find(entry.one->case_id);
  if (found == entry.run->kernels.end()) return points;
  for (const auto& kernel : found->second) {
    if (kernel.share < kWorthAPoint || points.size() == kMostKernels) continue;
    Point p{.x = kernel.flops_per_s / kernel.bytes_per_s, .y = kernel.flops_per_s * scale.factor};
    p.hint = fmt::format("{}\n{} of the kernels' time\n{} {} at {} FLOP/byte of DRAM", kernel.name,
                         format_percent(kernel.share, 0), format_significant(p.y), scale.unit,
                         format_significant(p.x));
    points.push_back(std::move(p));
  }
  return points;
}

// The precisions of the cases, each with a colour of its own.
std::vector<std::string> precisions_of(const Cases& cases) {
  std::set<std::string> precisions;
  for (const ReportCase& entry : cases)
    precisions.insert(result::arithmetic_of(entry.one->benchmark.precision));
  return {precisions.begin(), precisions.end()};
}

void add_roofs(const Cases& cases, const result::DevicePeaks& peaks,
               const std::vector<std::string>& precisions, const FlopUnit& scale, Plot& plot) {
  double left = kEndless, right = 0;
  for (const ReportCase& entry : cases) {
    left = std::min(left, *entry.one->flops.flops_per_byte);
    right = std::max(right, *entry.one->flops.flops_per_byte);
    for (const auto& point : kernel_points(entry, scale))
      left = std::min(left, point.x), right = std::max(right, point.x);
  }
  const auto* memory = result::find_peak(peaks, result::kCopy, result::kWithinDevice);
  for (std::size_t at = 0; at < precisions.size(); ++at) {
    const auto& precision = precisions[at];
    const auto* best = result::best_peak(peaks, precision);
    const auto datasheet = result::datasheet_peak(peaks, precision);
    const auto colour = series_colour(at);
    const auto roof = [&](double flops_per_s, const Number& bytes_per_s, Line::Stroke stroke,
                          std::string_view source) {
      plot.lines.push_back(
          {.points =
               roof_points(bytes_per_s.value().value_or(0), flops_per_s, left / 4, right * 4, scale.factor),
           .colour = colour,
           .stroke = stroke,
           .name = fmt::format("{}: {} {} {}", precision, format_significant(flops_per_s * scale.factor),
                               scale.unit, source)});
    };
    if (best) roof(*best->per_s, memory ? memory->per_s : Number(), Line::Stroke::kSolid, "measured");
    if (datasheet)
      roof(*datasheet, memory ? memory->datasheet_per_s : Number(), Line::Stroke::kDotted,
           "by its datasheet");
  }
}

Plot roofline_of(const std::string& device, const Cases& cases) {
  result::DevicePeaks peaks = *cases.front().one->device_peaks;
  for (const ReportCase& entry : cases) add_lacking(peaks, *entry.one->device_peaks);
  const FlopUnit scale = scale_of(peaks);
  Plot plot{.title = device,
            .description = fmt::format("Roofline of {}: FLOP/s of {} against FLOPs per byte", device,
                                       plural(std::ssize(cases), "case")),
            .x = {.title = "FLOP per byte of operands and results", .scale = Axis::Scale::kLog10},
            .y = {.title = std::string(scale.unit), .scale = Axis::Scale::kLog10}};
  plot.name = device;
  auto precisions = precisions_of(cases);
  add_roofs(cases, peaks, precisions, scale, plot);
  const auto names = series_of(cases);
  std::vector<std::string> placed;
  const std::size_t first = plot.lines.size();
  for (std::size_t at = 0; at < cases.size(); ++at) {
    const auto index = place_of(cases[at].one->benchmark.model + " " + names[at], placed);
    if (first + index == plot.lines.size())
      plot.lines.push_back({.points = {},
                            .colour = series_colour(place_of(
                                result::arithmetic_of(cases[at].one->benchmark.precision), precisions)),
                            .stroke = Line::Stroke::kHidden,
                            .mark = series_mark(index),
                            .name = placed[index]});
    plot.lines[first + index].points.push_back(point_of(cases[at], scale));
  }
  const auto shown = without_shared(placed, plot);
  for (std::size_t at = 0; at < shown.size(); ++at) plot.lines[first + at].name = shown[at];
  for (std::size_t at = 0; at < cases.size(); ++at)
    if (auto points = kernel_points(cases[at], scale); !points.empty())
      plot.lines.push_back({.points = std::move(points),
                            .colour = series_colour(precisions.size()),
                            .stroke = Line::Stroke::kHidden,
                            .mark = series_mark(placed.size() + at),
                            .name = fmt::format("kernels of {} under ncu", name_of(cases[at]))});
  return plot;
}

}  // namespace

Plots roofline_plots(std::span<const ReportRun> runs) {
  std::vector<std::pair<std::string, Cases>> devices;
  for (const ReportCase& entry : measured_cases(runs, has_roofline_point)) {
    const auto& device = entry.one->device_peaks->device;
    const auto found = std::ranges::find(devices, device, &std::pair<std::string, Cases>::first);
    (found == devices.end() ? devices.emplace_back(device, Cases()) : *found).second.push_back(entry);
  }
  Plots plots;
  for (const auto& [device, cases] : devices) plots.push_back(roofline_of(device, cases));
  return plots;
}

}  // namespace paceline::report
