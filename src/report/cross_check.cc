// SPDX-License-Identifier: MIT
// Words a cross-check with the engine's own tool.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

using result::CrossCheck;

std::string percent(double share) {
  return format_significant(std::abs(share) * 100, 2);
}

// "4.1–8.3 %", the smaller end first.
std::string percent_range(double a, double b) {
  return fmt::format("{}–{} %", percent(std::min(std::abs(a), std::abs(b))),
                     percent(std::max(std::abs(a), std::abs(b))));
}

std::string signed_percent(double share) {
  return (share < 0 ? "−" : "+") + percent(share) + " %";
}

std::string ratio_text(const CrossCheck& check) {
  const auto& ratio = check.ratio;
  if (!ratio.ci_low || !ratio.ci_high) return fmt::format("ratio {}", format_fixed(*ratio.value, 3));
  return fmt::format("ratio {} ({}–{})", format_fixed(*ratio.value, 3), format_fixed(*ratio.ci_low, 3),
                     format_fixed(*ratio.ci_high, 3));
}

// "equal within 1.1 %", "slower by 6.2 % (4.1–8.3 %)"; empty without a ratio.
std::string verdict_text(const CrossCheck& check) {
  const auto& [value, low, high, confidence, method] = check.ratio;
  if (!check.reason.empty()) return "no claim: " + check.reason;
  if (!value || !low || !high) return {};
  if (check.verdict == result::Speed::kEquivalent)
    return fmt::format("equal within {} %", percent(std::max(*high - 1, 1 - *low)));
  if (result::is_difference(check.verdict.value))
    return fmt::format("Paceline is {} by {} % ({})", check.verdict.words(), percent(*value - 1),
                       percent_range(*low - 1, *high - 1));
  return fmt::format(
      "cannot say: the interval reaches from {} to {}; more pairs (--cross-check-rounds) or a quieter "
      "machine narrow it",
      signed_percent(*low - 1), signed_percent(*high - 1));
}

// "benchmark_app 10.6 ms, Paceline 10.7 ms, ratio 1.004 (0.998–1.011), 10 pairs of processes: equal within
// 1.1 %", or why there is no ratio.
std::string check_text(const CrossCheck& check) {
  if (!check.ratio.value) return "no ratio: " + check.reason;
  return fmt::format("{} {}, Paceline {}, {}{} pairs of processes: {}{}", check.tool,
                     format_duration_ns(*check.theirs_p50_ns), format_duration_ns(*check.ours_p50_ns),
                     check.reason.empty() ? ratio_text(check) + ", " : "", check.ours_ns.size(),
                     verdict_text(check), check.notes.empty() ? "" : "; " + join(check.notes, "; "));
}

Sections cross_check_sections(const ReportCase& entry) {
  const auto& check = entry.one->cross_check;
  if (!check.asked) return {};
  return {{.title = "Cross-check with the engine's own tool",
           .paragraphs = {check_text(check)},
           .metric = "cross_check_ratio",
           .command = check.command,
           .log = check.log_tail}};
}

}  // namespace

constexpr Subject kCrossCheck{.heading = "Cross-check with the engines' own tools",
                              .case_heading = "cross-check",
                              .listed = true,
                              .place = Place::kBeforeChart,
                              .of_case = cross_check_sections};

}  // namespace paceline::report
