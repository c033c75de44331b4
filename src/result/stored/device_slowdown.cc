// SPDX-License-Identifier: MIT
#include "result/stored/device_slowdown.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"

namespace paceline::result {
std::string share_text(double share) {
  return format_percent(share, share < 0.0995 ? 1 : 0);
}

std::string slowdown_text(const std::vector<DeviceSlowdown>& slowdowns) {
  std::vector<std::string> parts;
  for (const auto& one : slowdowns)
    parts.push_back(fmt::format("{} in {} of the samples", one.reason, format_percent(one.share)));
  return join(parts, ", ");
}

}  // namespace paceline::result
