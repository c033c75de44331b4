// SPDX-License-Identifier: MIT
#include "cli/run/time_left.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace paceline::cli {
namespace {

// The time that the pass itself still takes. A stop rule may end it before its limit.
std::optional<TimeLeft> left_of_pass(const run::PassInfo& pass, const pass::ProgressRecord& now) {
  if (now.phase != "measure") return std::nullopt;
  if (pass.samples_planned > 0 && now.n > 0) {
    const auto rest = static_cast<double>(std::max<std::int64_t>(pass.samples_planned - now.n, 0));
    return TimeLeft{now.elapsed_s / static_cast<double>(now.n) * rest};
  }
  if (pass.most_s <= 0 || pass.samples_planned > 0) return std::nullopt;
  return TimeLeft{std::max(pass.most_s - now.elapsed_s, 0.0), !pass.fixed_time};
}

}  // namespace

std::optional<TimeLeft> time_left(const run::PassInfo& pass, double since_s,
                                  const pass::ProgressRecord& now) {
  const auto own = left_of_pass(pass, now);
  const bool known = own && !own->at_most;
  if (pass.seconds_left > 0) {
    const double left = std::max(pass.seconds_left - since_s, known ? own->seconds : 0);
    return left > 0 ? std::optional(TimeLeft{left}) : std::nullopt;
  }
  const auto after = pass.of > pass.number ? static_cast<double>(pass.of - pass.number) : 0;
  if (known) return TimeLeft{own->seconds + after * (since_s + own->seconds)};
  return after > 0 ? std::nullopt : own;  // the limits of many passes together say little
}

std::string words_of(const std::optional<TimeLeft>& left) {
  if (!left) return {};
  return fmt::format("{}{} left", left->at_most ? "at most " : "", format_time_left(left->seconds));
}

}  // namespace paceline::cli
