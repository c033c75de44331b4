// SPDX-License-Identifier: MIT
#include "report/cross_check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"
#include "report/escape.h"
#include "report/html_parts.h"
#include "report/text_layout.h"

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

// Files of version 1.2 hold a verdict for any grade.
CrossCheck checked(const result::CaseResult& one) {
  CrossCheck check = one.cross_check;
  if (check.ratio.value && one.grade == result::Grade::kC) check.reason = result::kInvalidCase;
  return check;
}

std::string ratio_text(const CrossCheck& check) {
  const auto& ratio = check.ratio;
  if (!ratio.ci_low || !ratio.ci_high) return fmt::format("ratio {:.3f}", *ratio.value);
  return fmt::format("ratio {:.3f} ({:.3f}–{:.3f})", *ratio.value, *ratio.ci_low, *ratio.ci_high);
}

std::string notes_text(const CrossCheck& check) {
  return check.notes.empty() ? "" : "; " + join(check.notes, "; ");
}

}  // namespace

std::string cross_check_verdict(const CrossCheck& check) {
  const auto& [value, low, high, confidence, method] = check.ratio;
  if (!check.reason.empty()) return "no claim: " + check.reason;
  if (!value || !low || !high) return {};
  if (check.verdict == "equal")
    return fmt::format("equal within {} %", percent(std::max(*high - 1, 1 - *low)));
  if (check.verdict == "slower" || check.verdict == "faster")
    return fmt::format("Paceline is {} by {} % ({})", check.verdict, percent(*value - 1),
                       percent_range(*low - 1, *high - 1));
  return fmt::format(
      "cannot say: the interval reaches from {} to {}; more pairs (--cross-check-rounds) or a quieter "
      "machine "
      "narrow it",
      signed_percent(*low - 1), signed_percent(*high - 1));
}

std::string cross_check_text(const CrossCheck& check) {
  if (!check.asked) return {};
  if (!check.ratio.value) return "no ratio: " + check.reason;
  return fmt::format("{} {}, Paceline {}, {}{} pairs of processes: {}{}", check.tool,
                     format_duration_ns(*check.theirs_p50_ns), format_duration_ns(*check.ours_p50_ns),
                     check.reason.empty() ? ratio_text(check) + ", " : "", check.ours_ns.size(),
                     cross_check_verdict(check), notes_text(check));
}

std::string cross_checks_terminal(const result::RunResult& run, std::size_t width) {
  std::string out;
  for (const auto& one : run.cases) {
    const std::string text = cross_check_text(checked(one));
    if (text.empty()) continue;
    if (out.empty()) out = "\ncross-check\n";
    for (const auto& line : wrap(printable(one.label + ": " + text), width)) out += "  " + line + "\n";
    for (const auto& line : split(one.cross_check.log_tail, '\n'))
      if (!line.empty()) out += "  | " + printable(line) + "\n";
  }
  return out;
}

std::string cross_checks_markdown(std::span<const ReportRun> runs) {
  std::string out;
  for (const ReportCase& entry : side_by_side(runs)) {
    const std::string text = cross_check_text(checked(*entry.one));
    if (text.empty()) continue;
    if (out.empty()) out = "## Cross-check with the engines' own tools\n\n";
    const std::string of = entry.letter.empty() ? "" : "run " + entry.letter + ", ";
    out += fmt::format("- {}{}: {}\n", of, escape_markdown(entry.one->label), escape_markdown(text));
  }
  return out.empty() ? out : out + "\n";
}

std::string cross_check_html(const result::CaseResult& one) {
  const auto check = checked(one);
  const std::string text = cross_check_text(check);
  if (text.empty()) return {};
  std::string out = "<h4>Cross-check with the engine's own tool</h4><p>" + escape_html(text) + ". " +
                    formula_link("cross_check_ratio") + "</p>\n";
  if (!check.command.empty()) out += "<pre>" + escape_html(check.command) + "\n</pre>\n";
  if (!check.log_tail.empty()) out += "<pre>" + escape_html(check.log_tail) + "\n</pre>\n";
  return out;
}

}  // namespace paceline::report
