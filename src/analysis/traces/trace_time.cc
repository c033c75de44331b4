// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_time.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace paceline::analysis::traces {
namespace {

constexpr std::int64_t kMostDigits = 19, kMostExponent = 1000;
constexpr std::uint64_t kMost = 4'000'000'000'000'000'000;  // two of them can be added

// Digits without a point: the value is 0.<digits> times ten to the power of `point`.
struct Decimal {
  std::string digits;
  std::int64_t point = 0;
};

std::optional<Decimal> decimal_of(std::string_view text) {
  const auto exponent = text.find_first_of("eE");
  std::int64_t shift = 0;
  if (exponent != std::string_view::npos) {
    auto written = text.substr(exponent + 1);
    if (written.starts_with('+')) written.remove_prefix(1);
    const auto read = parse_int(written);
    if (!read) return std::nullopt;
    shift = std::clamp<std::int64_t>(*read, -kMostExponent, kMostExponent);
    text = text.substr(0, exponent);
  }
  const auto point = std::min(text.find('.'), text.size());
  Decimal all{std::string(text.substr(0, point)), static_cast<std::int64_t>(point) + shift};
  if (point < text.size()) all.digits += text.substr(point + 1);
  if (all.digits.empty() || all.digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const auto zeros = std::min(all.digits.find_first_not_of('0'), all.digits.size());
  all.digits.erase(0, zeros);
  all.point -= static_cast<std::int64_t>(zeros);
  return all;
}

}  // namespace

std::optional<std::int64_t> ns_of_us(std::string_view decimal) {
  const bool negative = decimal.starts_with('-');
  if (negative) decimal.remove_prefix(1);
  const auto number = decimal_of(decimal);
  if (!number) return std::nullopt;
  if (number->digits.empty()) return 0;
  const std::int64_t whole = number->point + 3;  // digits of whole ns
  if (whole > kMostDigits) return std::nullopt;
  if (whole < 0) return 0;
  std::uint64_t ns = 0;
  const auto digit = [&](std::int64_t i) {
    return i < static_cast<std::int64_t>(number->digits.size())
               ? static_cast<std::uint64_t>(number->digits[static_cast<std::size_t>(i)] - '0')
               : 0;
  };
  for (std::int64_t i = 0; i < whole; ++i) ns = ns * 10 + digit(i);
  if (digit(whole) >= 5) ++ns;
  if (ns > kMost) return std::nullopt;
  return negative ? -static_cast<std::int64_t>(ns) : static_cast<std::int64_t>(ns);
}

}  // namespace paceline::analysis::traces
