// SPDX-License-Identifier: MIT
#include "config/inference/slo.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace paceline::config {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
    {{"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"s", 1.0}}};

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error(ErrorCode::kConfig,
              fmt::format("slo '{}': {}; write pQ=DURATION, e.g. p99=50ms (units: s, ms, us)", text, why));
}

double quantile_of(std::string_view text, std::string_view word) {
  const auto percent = word.starts_with("p") ? parse_double(word.substr(1)) : std::nullopt;
  if (!percent || *percent < 1 || *percent >= 100) refuse(text, "no quantile between p1 and p99.99");
  return *percent / 100;
}

double seconds_of(std::string_view text, std::string_view word) {
  const auto seconds = seconds_in(word);
  if (!seconds || *seconds <= 0) refuse(text, "no duration above 0 with its unit");
  return *seconds;
}

}  // namespace

std::optional<double> seconds_in(std::string_view text) {
  if (text == "0") return 0;
  for (const auto& [unit, scale] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = parse_double(trim(text.substr(0, text.size() - unit.size())));
    return number && *number >= 0 ? std::optional(*number * scale) : std::nullopt;
  }
  return std::nullopt;
}

Slo parse_slo(std::string_view text) {
  const auto sign = text.find('=');
  if (sign == std::string_view::npos) refuse(text, "no '='");
  return {quantile_of(text, trim(text.substr(0, sign))), seconds_of(text, trim(text.substr(sign + 1)))};
}

}  // namespace paceline::config
