// SPDX-License-Identifier: MIT
#include "base/seconds.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace paceline {

std::optional<double> parse_seconds(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"s", 1.0}}};
  if (text == "0") return 0;
  for (const auto& [unit, scale] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = parse_double(trim(text.substr(0, text.size() - unit.size())));
    return number && *number >= 0 ? std::optional(*number * scale) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace paceline
