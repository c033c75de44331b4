// SPDX-License-Identifier: MIT
#include "base/units.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/text.h"

namespace paceline {
namespace {

constexpr double kLargestPlain = 1e15, kSmallestPlain = 1e-15;

struct Scale {
  double unit;
  const char* name;
};

constexpr std::array<Scale, 4> kDurations{{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};

const Scale& scale_of(double value, std::span<const Scale> scales) {
  const double size = std::abs(value);
  const Scale* chosen = &scales.front();
  for (const Scale& scale : scales)
    if (size >= scale.unit * 0.9995) chosen = &scale;
  return *chosen;
}

std::string scaled(double value, std::span<const Scale> scales) {
  const Scale& scale = scale_of(value, scales);
  return fmt::format("{} {}", format_significant(value / scale.unit), scale.name);
}

}  // namespace

std::string format_significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  // Digits count for the rounded value: 0.9996 is written 1.00, not 1.000.
  const auto scientific = fmt::format("{:.{}e}", value, digits - 1);
  const double rounded = std::abs(parse_double(scientific).value_or(value));
  if (rounded >= kLargestPlain || rounded < kSmallestPlain) return scientific;
  const int magnitude = static_cast<int>(std::floor(std::log10(rounded) + 1e-9));
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - magnitude));
}

std::string format_fixed(double value, int decimals) {
  return std::abs(value) < kLargestPlain ? fmt::format("{:.{}f}", value, decimals)
                                         : format_significant(value, decimals + 1);
}

std::string format_duration_ns(double ns) {
  return scaled(ns, kDurations);
}

std::string format_duration_range_ns(double low, double high, double like) {
  const Scale& scale = scale_of(like, kDurations);
  return fmt::format("{}–{} {}", format_significant(low / scale.unit), format_significant(high / scale.unit),
                     scale.name);
}

std::string format_ms(double ns) {
  return format_significant(ns / 1e6);
}

std::string format_bytes(double bytes) {
  static constexpr std::array<Scale, 5> kScales{
      {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
  return scaled(bytes, kScales);
}

std::string format_count(double average) {
  return fmt::format("{:g}", std::round(average * 100) / 100);
}

std::string format_rate(double per_second) {
  return format_significant(per_second);
}

std::string format_percent(double fraction, int digits) {
  auto text = format_fixed(fraction * 100, digits) + " %";
  if (text.starts_with('-') && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string plural(std::int64_t count, std::string_view noun) {
  const auto* ending = noun.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : ending);
}

std::string format_time_left(double seconds) {
  const auto total = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (total < 60) return fmt::format("{} s", total);
  if (total < 3600) return fmt::format("{} m {:02} s", total / 60, total % 60);
  return fmt::format("{} h {:02} m", total / 3600, total % 3600 / 60);
}

std::string format_utc(std::int64_t unix_seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

}  // namespace paceline
