// SPDX-License-Identifier: MIT
#include "report/roofline.h"

#include "result/stored/device_peaks.h"

namespace paceline::report {
namespace {

using result::CaseResult;

const result::DevicePeak* best_of(const CaseResult& one) {
  return result::best_peak(*one.device_peaks, result::arithmetic_of(one.benchmark.precision));
}

}  // namespace

bool has_roofline_point(const CaseResult& one) {
  if (!one.device_peaks || !one.flops.flops_per_byte || !one.flops.achieved_flops_per_s) return false;
  const auto precision = result::arithmetic_of(one.benchmark.precision);
  return best_of(one) || result::datasheet_peak(*one.device_peaks, precision);
}

// A case on several GPUs has the sum of their peaks.
double flops_per_gpu(const CaseResult& one) {
  const auto* best = best_of(one);
  const auto datasheet =
      result::datasheet_peak(*one.device_peaks, result::arithmetic_of(one.benchmark.precision));
  const auto &measured = one.flops.peak_measured_flops_per_s,
             &by_datasheet = one.flops.peak_datasheet_flops_per_s;
  double gpus = 1;
  if (best && measured)
    gpus = *measured / *best->per_s;
  else if (datasheet && by_datasheet)
    gpus = *by_datasheet / *datasheet;
  return *one.flops.achieved_flops_per_s / gpus;
}

void add_lacking(result::DevicePeaks& peaks, const result::DevicePeaks& more) {
  for (const auto& peak : more.peaks) {
    const auto* found = result::find_peak(peaks, peak.operation, peak.variant);
    if (!found || !found->per_s) result::keep_faster(peaks, peak);
  }
}

std::optional<RoofOver> roof_over(const CaseResult& one) {
  if (!has_roofline_point(one)) return std::nullopt;
  const auto* best = best_of(one);
  const auto* memory = result::find_peak(*one.device_peaks, result::kCopy, result::kWithinDevice);
  if (!best || !memory || !memory->per_s) return std::nullopt;
  const double by_memory = *one.flops.flops_per_byte * *memory->per_s;
  const bool compute = *best->per_s <= by_memory;
  return RoofOver{compute ? "compute" : "memory", flops_per_gpu(one) / (compute ? *best->per_s : by_memory)};
}

}  // namespace paceline::report
