// SPDX-License-Identifier: MIT
#include "cli/duration.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace paceline::cli {

double seconds_of(std::string_view flag, const std::string& text) {
  // A number alone is one of seconds; it fits last, because every text ends in "".
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"", 1}}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = parse_double(text.substr(0, text.size() - unit.size()));
    if (number && *number > 0 && *number * seconds <= 86'400) return *number * seconds;
    break;
  }
  throw Error(
      ErrorCode::kUsage,
      fmt::format("{} {}: write a time up to a day like 30s, 2m, 500ms, or 30 for seconds", flag, text));
}

}  // namespace paceline::cli
