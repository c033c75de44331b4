// SPDX-License-Identifier: MIT
// Reasons why a working GPU lowered its clock, and their words.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace paceline::result {

inline constexpr std::string_view kPowerCap = "power cap";

struct DeviceSlowdown {
  std::string reason;  // "power cap", "thermal slowdown"
  double share = 0;    // of the samples of the clock
};

// "50 %"; below a tenth "6.1 %".
std::string share_text(double share);

// "thermal slowdown in 80.0 % of the samples, power cap in 10.0 % of the samples"; empty without one.
std::string slowdown_text(const std::vector<DeviceSlowdown>& slowdowns);

}  // namespace paceline::result
