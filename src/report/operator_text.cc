// SPDX-License-Identifier: MIT
#include "report/operator_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "report/escape.h"
#include "report/simple_table.h"
#include "report/text_layout.h"

namespace paceline::report {
namespace {

using result::CaseResult;
using result::Number;
using result::OperatorProfile;
using result::OperatorRow;

constexpr std::size_t kMaxOperator = 52;  // on a terminal of 100 columns

std::string ms(const Number& ns, double steps) {
  return ns ? format_ms(*ns / steps) : kNone;
}
std::string share(const Number& value) {
  return value ? format_percent(*value) : kNone;
}

std::vector<std::string> operator_cells(const OperatorRow& row, double steps) {
  return {row.name, format_count(static_cast<double>(row.calls) / steps), ms(row.self_ns, steps),
          ms(row.total_ns, steps), share(row.share)};
}

// The parts of a whole step: the operators with most time, the others, and time in no operator.
SimpleTable table_of(const OperatorProfile& profile) {
  SimpleTable table{{"operator", "calls a step", "self ms", "total ms", "share"}, 1, {}};
  if (!profile.steps) return table;
  const auto steps = static_cast<double>(*profile.steps);
  for (const auto& row : profile.top) table.rows.push_back(operator_cells(row, steps));
  auto rest = profile.rest;
  const auto others = *profile.operators - static_cast<std::int64_t>(profile.top.size());
  rest.name = "(" + plural(others, "other") + ")";
  if (others > 0) table.rows.push_back(operator_cells(rest, steps));
  table.rows.push_back(
      {"(in no operator)", kNone, ms(profile.outside_ns, steps), kNone, share(profile.outside_share)});
  return table;
}

std::string parts_text(const OperatorProfile& profile) {
  std::vector<std::string> parts;
  for (const auto& part : profile.parts)
    if (part.total_ns)
      parts.push_back(fmt::format("{} {}", part.name,
                                  format_duration_ns(*part.total_ns / static_cast<double>(*profile.steps))));
  return parts.empty() ? "" : fmt::format(" A step's parts: {}.", join(parts, ", "));
}

std::string trace_text(const OperatorProfile& profile) {
  if (profile.trace.empty()) return profile.reason.empty() ? "" : fmt::format(" {}.", profile.reason);
  const auto size = profile.trace_bytes ? format_bytes(static_cast<double>(*profile.trace_bytes)) : kNone;
  return fmt::format(" {} ({}) opens in ui.perfetto.dev.", profile.trace, size);
}

std::string ratio_text(const CaseResult& one) {
  const auto& of_timed = one.operator_profile.front().of_timed;
  if (!of_timed || !one.headline.p50_ns.value) return {};
  return fmt::format(", {:.2f} times the timed {}", *of_timed,
                     format_duration_ns(*one.headline.p50_ns.value));
}

}  // namespace

std::string profile_text(const CaseResult& one) {
  if (one.operator_profile.empty()) return {};
  const auto& profile = one.operator_profile.front();
  if (!profile.steps) return "no profile: " + profile.reason;
  return fmt::format("{} of rank 0 under {}, after {} others: {} a step{}.{}{}",
                     plural(*profile.steps, "step"), profile.source, *profile.untimed_steps,
                     format_duration_ns(*profile.step_ns), ratio_text(one), parts_text(profile),
                     trace_text(profile));
}

std::string_view profile_caveat() {
  return "A profiler slows training down, small operators most: read the shares, not the sum. Communication "
         "that the backward pass waits for is a part of it. Every operator is in operators.csv.";
}

std::string operators_terminal(const result::RunResult& run, std::size_t width) {
  std::string out;
  bool any = false;
  for (const auto& one : run.cases) {
    const std::string text = profile_text(one);
    if (text.empty()) continue;
    out += "\nprofile of " + printable(one.label) + "\n";
    auto table = table_of(one.operator_profile.front());
    any |= !table.rows.empty();
    for (auto& row : table.rows) row[0] = truncate_middle(printable(row[0]), kMaxOperator);
    out += terminal_of(table, width);
    for (const auto& line : wrap(printable(text), width)) out += "  " + line + "\n";
  }
  if (!any) return out;
  for (const auto& line : wrap(profile_caveat(), width)) out += "  " + line + "\n";
  return out;
}

std::string operators_markdown(std::span<const ReportRun> runs) {
  std::string out;
  for (const ReportCase& entry : side_by_side(runs)) {
    const std::string text = profile_text(*entry.one);
    if (text.empty()) continue;
    if (out.empty()) out = fmt::format("## Profile\n\n{}\n\n", profile_caveat());
    const std::string of = entry.letter.empty() ? "" : " (run " + entry.letter + ")";
    out += fmt::format("### {}{}\n\n{}\n\n", escape_markdown(entry.one->label), of, escape_markdown(text));
    out += markdown_of(table_of(entry.one->operator_profile.front())) + "\n";
  }
  return out;
}

std::string operators_html(const CaseResult& one) {
  const std::string text = profile_text(one);
  if (text.empty()) return {};
  const auto table = html_of(table_of(one.operator_profile.front()));
  const auto caveat =
      table.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escape_html(profile_caveat()));
  return fmt::format("<h4>Profile of a step</h4>\n{}<p>{}</p>\n{}", table, escape_html(text), caveat);
}

}  // namespace paceline::report
