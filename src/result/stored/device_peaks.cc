// SPDX-License-Identifier: MIT
#include "result/stored/device_peaks.h"

#include <algorithm>
#include <utility>

#include "stats/quantile.h"

namespace paceline::result {

std::string arithmetic_of(const std::string& precision) {
  if (precision == "amp") return "fp16";
  return precision.starts_with("amp_") ? precision.substr(4) : precision;
}

const DevicePeak* find_peak(const DevicePeaks& peaks, std::string_view operation, std::string_view variant) {
  const auto found = std::ranges::find_if(peaks.peaks, [&](const DevicePeak& one) {
    return one.operation == operation && one.variant == variant;
  });
  return found == peaks.peaks.end() ? nullptr : &*found;
}

const DevicePeak* best_peak(const DevicePeaks& peaks, std::string_view precision) {
  const DevicePeak* best = nullptr;
  for (const char* operation : {kProduct, kConvolution})
    if (const auto* one = find_peak(peaks, operation, precision))
      if (one->per_s && (!best || *one->per_s > *best->per_s)) best = one;
  return best;
}

Number datasheet_peak(const DevicePeaks& peaks, std::string_view precision) {
  const auto* product = find_peak(peaks, kProduct, precision);
  return product ? product->datasheet_per_s : DevicePeak().datasheet_per_s;
}

DevicePeak summarize_peak(std::string operation, std::string variant, std::string detail, double amount,
                          const std::vector<double>& times_ns) {
  DevicePeak peak{std::move(operation), std::move(variant), {}, {}, std::ssize(times_ns), std::move(detail)};
  if (times_ns.empty()) {
    peak.per_s = peak.spread = Number::missing(peak.detail.empty() ? "not_measured" : peak.detail);
    return peak;
  }
  const auto sorted = stats::sorted_copy(times_ns);
  const double median = stats::median(times_ns);
  peak.per_s = amount * 1e9 / median;
  peak.spread =
      sorted.size() < 4
          ? Number::missing("too few repetitions")
          : Number((stats::nearest_rank(sorted, 750'000) - stats::nearest_rank(sorted, 250'000)) / median);
  return peak;
}

void keep_faster(DevicePeaks& peaks, DevicePeak peak) {
  const auto found = std::ranges::find_if(peaks.peaks, [&](const DevicePeak& one) {
    return one.operation == peak.operation && one.variant == peak.variant;
  });
  if (found == peaks.peaks.end()) return peaks.peaks.push_back(std::move(peak));
  if (found->per_s && (!peak.per_s || *found->per_s >= *peak.per_s)) return;
  peak.datasheet_per_s = found->datasheet_per_s;
  *found = std::move(peak);
}

}  // namespace paceline::result
