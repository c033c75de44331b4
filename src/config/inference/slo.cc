// SPDX-License-Identifier: MIT
#include "config/inference/slo.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/seconds.h"
#include "base/text.h"

namespace paceline::config {
namespace {

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
  const auto seconds = parse_seconds(word);
  if (!seconds || *seconds <= 0) refuse(text, "no duration above 0 with its unit");
  return *seconds;
}

}  // namespace

Slo parse_slo(std::string_view text) {
  const auto sign = text.find('=');
  if (sign == std::string_view::npos) refuse(text, "no '='");
  return {quantile_of(text, trim(text.substr(0, sign))), seconds_of(text, trim(text.substr(sign + 1)))};
}

}  // namespace paceline::config
