// SPDX-License-Identifier: MIT
// Best performance of a device, measured and by its datasheet. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/maybe.h"

namespace paceline::result {

inline constexpr const char* kProduct = "product";
inline constexpr const char* kConvolution = "convolution";
inline constexpr const char* kCopy = "copy";
// Ways of copies; bytes within a device are those read and those written.
inline constexpr const char* kWithinDevice = "within_device";
inline constexpr const char* kPinnedToDevice = "pinned_to_device";
inline constexpr const char* kPageableToDevice = "pageable_to_device";

struct DevicePeak {
  std::string operation;  // product | convolution | copy
  std::string variant;    // of a copy its way, else its precision (plugin/device_probe.h)
  Number per_s;           // measured: FLOP per second, or bytes of a copy
  Number spread;          // of the repetitions: interquartile range over median
  std::int64_t n = 0;
  std::string detail;
  Number datasheet_per_s = Number::missing("no row for it in share/paceline/device_peaks.csv");
};

// Peaks of one device; the highest of each operation and variant.
struct DevicePeaks {
  std::string device;  // NVIDIA H200
  std::string driver;
  Number power_limit_w;
  Maybe<std::string> measured_utc;  // missing: nothing was measured, with the reason
  std::vector<DevicePeak> peaks;
};

// Precision of arithmetic: "bf16" of amp_bf16, "fp16" of amp.
std::string arithmetic_of(const std::string& precision);

// Null where there is none.
const DevicePeak* find_peak(const DevicePeaks& peaks, std::string_view operation, std::string_view variant);
// The faster one of product and convolution in a precision; null where neither was measured.
const DevicePeak* best_peak(const DevicePeaks& peaks, std::string_view precision);
// Peak of products in a precision by the datasheet.
Number datasheet_peak(const DevicePeaks& peaks, std::string_view precision);

// Durations of repetitions as a figure. `amount` is that of one.
DevicePeak summarize_peak(std::string operation, std::string variant, std::string detail, double amount,
                          const std::vector<double>& times_ns);
// Adds a figure; of the same operation and variant the faster one stays.
void keep_faster(DevicePeaks& peaks, DevicePeak peak);

}  // namespace paceline::result
