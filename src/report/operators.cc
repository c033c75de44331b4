// SPDX-License-Identifier: MIT
// Words the operators of a training step with the largest self times, from a pass under the profiler.
#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

using result::OperatorProfile;
using result::OperatorRow;

constexpr std::string_view kProfileCaveat =
    "A profiler slows training down, small operators most: read the shares, not the sum. Communication that "
    "the backward pass waits for is a part of it. Every operator is in operators.csv.";

std::string ms(const Number& ns, double steps) {
  return ns ? format_ms(*ns / steps) : kNone;
}

std::vector<Cell> operator_cells(const OperatorRow& row, double steps) {
  return {row.name, format_count(static_cast<double>(row.calls) / steps), ms(row.self_ns, steps),
          ms(row.total_ns, steps), percent_or_none(row.share)};
}

// The parts of the mean step: the operators with most time, the others, and time in no operator.
Table operator_table(const OperatorProfile& profile) {
  const bool device = profile.on_device;
  Table table{.heads = {"operator", "calls per step", device ? "device ms" : "self ms",
                        device ? "host total ms" : "total ms", "share"},
              .most = {52}};
  if (!profile.steps) return table;
  const auto steps = static_cast<double>(*profile.steps);
  for (const auto& row : profile.top) table.add(operator_cells(row, steps));
  auto rest = profile.rest;
  const auto others = *profile.operators - static_cast<std::int64_t>(profile.top.size());
  rest.name = "(" + plural(others, "other") + ")";
  if (others > 0) table.add(operator_cells(rest, steps));
  table.add("(in no operator)", kNone, ms(profile.outside_ns, steps), kNone,
            percent_or_none(profile.outside_share));
  return table;
}

std::string parts_text(const OperatorProfile& profile) {
  std::vector<std::string> parts;
  for (const auto& part : profile.parts)
    if (part.total_ns)
      parts.push_back(fmt::format("{} {}", part.name,
                                  format_duration_ns(*part.total_ns / static_cast<double>(*profile.steps))));
  const char* text = profile.on_device ? " Its parts on the host, which hands them over, on average: {}."
                                       : " Its parts, on average: {}.";
  return parts.empty() ? "" : fmt::format(fmt::runtime(text), join(parts, ", "));
}

std::string trace_text(const OperatorProfile& profile) {
  if (profile.trace.empty()) return profile.reason.empty() ? "" : " " + as_sentence(profile.reason);
  const auto size = profile.trace_bytes ? format_bytes(static_cast<double>(*profile.trace_bytes)) : kNone;
  return fmt::format(" {} ({}) opens in ui.perfetto.dev.", profile.trace, size);
}

std::string ratio_text(const CaseResult& one) {
  const auto& of_timed = one.operator_profile->of_timed;
  if (!of_timed || !one.headline.p50_ns.value) return {};
  return fmt::format(", {} times the timed {}", format_fixed(*of_timed, 2),
                     format_duration_ns(*one.headline.p50_ns.value));
}

// "3 steps of rank 0 under PyTorch's profiler (Kineto), after 3 others: the median step took 24.1 ms, 1.31
// times the timed 18.4 ms. …", or why there is no profile.
std::string profile_text(const CaseResult& one) {
  const auto& profile = *one.operator_profile;
  if (!profile.steps) return "no profile: " + profile.reason;
  return fmt::format("{} of rank 0 under {}, after {} others: the median step took {}{}.{}{}",
                     plural(*profile.steps, "step"), profile.source, *profile.untimed_steps,
                     format_duration_ns(*profile.step_ns), ratio_text(one), parts_text(profile),
                     trace_text(profile));
}

Sections operator_sections(const ReportCase& entry) {
  const CaseResult& one = *entry.one;
  if (!one.operator_profile) return {};
  Section section{.title = "Profile of a step",
                  .table = operator_table(*one.operator_profile),
                  .paragraphs = {profile_text(one)}};
  if (!section.table.rows.empty()) section.notes = {std::string(kProfileCaveat)};
  return {section};
}

}  // namespace

constexpr Subject kOperators{.heading = "Profile",
                             .case_heading = "profile of ",
                             .caveat = kProfileCaveat,
                             .of_case = operator_sections};

}  // namespace paceline::report
