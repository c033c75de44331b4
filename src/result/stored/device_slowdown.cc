// SPDX-License-Identifier: MIT
#include "result/stored/device_slowdown.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"

namespace paceline::result {
namespace {

constexpr std::string_view kIn = " in ", kOfSamples = " % of the samples";

}  // namespace

std::string share_text(double share) {
  return format_percent(share, share < 0.0995 ? 1 : 0);
}

std::string slowdown_text(const std::vector<DeviceSlowdown>& slowdowns) {
  std::vector<std::string> parts;
  for (const auto& one : slowdowns)
    parts.push_back(fmt::format("{} in {} of the samples", one.reason, format_percent(one.share)));
  return join(parts, ", ");
}

std::vector<DeviceSlowdown> parse_slowdowns(const std::string& text) {
  std::vector<DeviceSlowdown> slowdowns;
  for (const auto& part : split(text, ',')) {
    const std::string words(trim(part));
    const auto in = words.rfind(kIn);
    if (in == std::string::npos || !words.ends_with(kOfSamples)) continue;
    const auto number = words.substr(in + kIn.size(), words.size() - kOfSamples.size() - in - kIn.size());
    if (const auto percent = parse_double(number)) slowdowns.push_back({words.substr(0, in), *percent / 100});
  }
  return slowdowns;
}

}  // namespace paceline::result
