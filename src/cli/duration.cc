// SPDX-License-Identifier: MIT
#include "cli/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace paceline::cli {
namespace {

struct Unit {
  std::string_view name;
  double seconds, below;  // below: the largest time that is written in it
};
constexpr std::array<Unit, 4> kRoughUnits{
    {{"s", 1, 60}, {"min", 60, 3600}, {"h", 3600, 48 * 3600.0}, {"days", 86'400, 1e300}}};

const Unit& unit_of(double seconds) {
  return *std::ranges::find_if(kRoughUnits, [&](const Unit& unit) { return seconds < unit.below; });
}

// One digit, nothing below 1.
double one_digit(double value, double (*rounded)(double)) {
  constexpr double kExact = 1e-9;  // of a value that has one digit
  if (value <= 1) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  const double digit = value / power, nearest = std::round(digit);
  return (std::abs(digit - nearest) < kExact ? nearest : rounded(digit)) * power;
}

struct RoughEnd {
  double value;
  std::string_view unit;
};
// 59 s upwards are 1 min.
RoughEnd rough_end(double seconds, double (*rounded)(double)) {
  const auto& unit = unit_of(seconds);
  const double value = one_digit(seconds / unit.seconds, rounded);
  const auto& after = unit_of(value * unit.seconds);
  return {one_digit(value * unit.seconds / after.seconds, rounded), after.name};
}

}  // namespace

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

std::string rough_time(double seconds) {
  const auto& unit = unit_of(std::round(seconds));
  return fmt::format("{:.0f} {}", std::max(1.0, std::round(seconds / unit.seconds)), unit.name);
}

std::string rough_range(double low_s, double high_s) {
  constexpr double kSame = 1.05;
  if (high_s <= kSame * low_s) return "about " + rough_time(high_s);
  const auto low = rough_end(low_s, [](double x) { return std::floor(x); }),
             high = rough_end(high_s, [](double x) { return std::ceil(x); });
  if (low.unit != high.unit)
    return fmt::format("{:.0f} {}–{:.0f} {}", low.value, low.unit, high.value, high.unit);
  if (low.value == high.value) return fmt::format("about {:.0f} {}", high.value, high.unit);
  return fmt::format("{:.0f}–{:.0f} {}", low.value, high.value, high.unit);
}

}  // namespace paceline::cli
