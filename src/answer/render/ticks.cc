// SPDX-License-Identifier: MIT
#include "answer/render/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace paceline::answer {
namespace {

constexpr std::size_t kFewestTicks = 3;
constexpr double kLargestCounted = 1e15;
constexpr double kRounding = 1e-9;  // a tick that misses the end by rounding is on it

int digits_after_point(double step) {
  return std::max(0, static_cast<int>(-std::floor(std::log10(step) + kRounding)));
}

int decade_of(double value) {
  return static_cast<int>(std::floor(std::log10(value)));
}

// "1 204 000"
std::string grouped(std::string number) {
  const auto point = std::min(number.find('.'), number.size());
  for (std::size_t at = point; at > 3 + (number.front() == '-' ? 1 : 0);) number.insert(at -= 3, " ");
  return number;
}

std::string number_text(double value, double step) {
  const double size = std::max(std::abs(value), step);
  if (size >= 1e7 || step < 1e-6) return fmt::format("{:.4g}", value);
  std::string text = fmt::format("{:.{}f}", value, digits_after_point(step));
  return std::abs(value) >= 1e4 ? grouped(text) : text;
}

}  // namespace

Line::Mark series_mark(std::size_t index) {
  using enum Line::Mark;
  constexpr std::array kMarks{kCircle, kSquare, kDiamond, kTriangle, kCross};
  return kMarks.at(index % kMarks.size());
}

std::vector<double> linear_ticks(double low, double high, int most) {
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  const double rough = (high - low) / std::max(1, most), power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough * (1 - kRounding)) step = factor * power;
  std::vector<double> ticks;
  const double slack = step * kRounding;
  const double first = std::ceil((low - slack) / step);
  if (std::abs(first) > kLargestCounted) return {low};  // one more would be the same number
  for (double at = first; at * step <= high + slack; ++at) ticks.push_back(at == 0 ? 0 : at * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high, int most) {
  if (!(low > 0 && high >= low && std::isfinite(high))) return {};
  std::vector<double> ticks;
  for (const std::vector<double>& digits : {std::vector<double>{1, 2, 3, 5, 7}, std::vector<double>{1, 2, 5},
                                            std::vector<double>{1, 3}, std::vector<double>{1}}) {
    ticks.clear();
    for (int exponent = decade_of(low); exponent <= decade_of(high); ++exponent)
      for (const double digit : digits)
        if (const double tick = digit * std::pow(10, exponent);
            tick >= low * (1 - kRounding) && tick <= high * (1 + kRounding))
          ticks.push_back(tick);
    if (ticks.size() <= static_cast<std::size_t>(most)) break;
  }
  return ticks;
}

std::vector<double> doubling_ticks(double low, double high, int most) {
  if (!(low > 0 && high >= low && std::isfinite(high))) return {};
  const int from = static_cast<int>(std::ceil(std::log2(low) - kRounding));
  const int to = static_cast<int>(std::floor(std::log2(high) + kRounding));
  const int every = std::max(1, (to - from) / std::max(1, most) + 1);
  std::vector<double> ticks;
  for (int power = from; power <= to; ++power)
    if (power % every == 0 || every == 1) ticks.push_back(std::ldexp(1, power));
  return ticks;
}

std::string binary_bytes(double bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.3g} {}", bytes, kUnits.at(unit));
}

std::vector<Tick> ticks_of(const Axis& axis, double low, double high, int most) {
  std::vector<double> values = axis.ticks;
  if (axis.scale == Axis::Scale::kLog10 && values.empty()) values = log_ticks(low, high, most);
  if (axis.scale == Axis::Scale::kDoubling && values.empty()) values = doubling_ticks(low, high, most);
  const bool even = axis.ticks.empty() && values.size() < kFewestTicks;  // a short stretch of a logarithm too
  if (even) values = linear_ticks(low, high, most);
  if (axis.whole) std::erase_if(values, [](double value) { return value != std::round(value); });
  const double factor = axis.numbers == Axis::Numbers::kPercent ? 100 : 1;
  const double step = values.size() > 1 ? (values[1] - values[0]) * factor : 1;
  std::vector<Tick> ticks;
  for (const double at : values) {
    if (at < low - step * kRounding || at > high + step * kRounding) continue;
    ticks.push_back({at, axis.numbers == Axis::Numbers::kBytes ? binary_bytes(at)
                         : even                                ? number_text(at * factor, step)
                                                               : fmt::format("{:.6g}", at * factor)});
  }
  return ticks;
}

}  // namespace paceline::answer
