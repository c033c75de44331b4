// SPDX-License-Identifier: MIT
// Words what keeps a training step from being shorter, the most expensive first.
#include "analysis/bottlenecks.h"

#include <fmt/format.h>

#include "analysis/trained_cases.h"
#include "base/units.h"
#include "report/bottlenecks.h"
#include "report/case_cells.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

using analysis::Bottleneck;

std::string cost_text(const Bottleneck& b) {
  if (!b.cost_ns.value) return kNone;
  const auto& low = b.cost_ns.ci_low;
  const auto& high = b.cost_ns.ci_high;
  const auto range = low && high ? fmt::format(" ({}–{})", format_ms(*low), format_ms(*high)) : "";
  return format_ms(*b.cost_ns.value) + range;
}

std::string stall_text(const CaseResult& one, const analysis::StepShape& s) {
  const auto lengths = fmt::format("({} of {} ms)", format_ms(*s.stall_ns), format_ms(*s.step_ns));
  if (analysis::is_with_waiting(one))
    return fmt::format("communication with waiting for the other ranks {} of a step {}; ",
                       format_percent(*s.stall_share), lengths);
  return fmt::format(
      "sync stalls {} of a step of the typical rank {}: communication itself {}, waiting for late ranks {}; ",
      format_percent(*s.stall_share), lengths, percent_or_none(s.communication_share),
      percent_or_none(s.straggler_wait_share));
}

Table bottleneck_table(const CaseResult& one, const std::vector<Bottleneck>& found) {
  Table table{.heads = {"", "bottleneck", "ms per step", "of the step", "evidence", "try"},
              .numbers_from = 2};
  table.numbers_to = 4;
  for (const auto& b : found)
    table.add(std::to_string(table.rows.size() + 1), without_label(b.finding.text, one), cost_text(b),
              percent_or_none(b.share), b.finding.evidence, b.finding.advice);
  return table;
}

bool is_trained(const CaseResult& one) {
  return one.outcome == result::Outcome::kOk && one.training() && one.training()->costs.step_ns.value;
}

Sections bottleneck_sections(std::span<const ReportRun> runs, Form form) {
  if (form == Form::kTerminal) return {};
  Sections sections;
  for (const ReportCase& entry : cases_with(runs, is_trained)) {
    auto table =
        bottleneck_table(*entry.one, analysis::bottlenecks_of(*entry.one, findings_of(entry.run->result)));
    if (table.rows.empty()) continue;
    sections.push_back(
        {.title = name_of(entry), .table = std::move(table), .paragraphs = {shape_text(*entry.one)}});
  }
  return sections;
}

}  // namespace

std::string shape_text(const CaseResult& one) {
  const auto s = analysis::shape_of(one);
  if (!s.step_ns) return fmt::format("The step was not measured: {}.", s.step_ns.reason());
  std::string text;
  if (s.stall_share)
    text = stall_text(one, s);
  else
    text =
        fmt::format("a step takes {} ms; sync stalls: {}; ", format_ms(*s.step_ns), s.stall_share.reason());
  return text + fmt::format("overlap {}, input wait {}, host {}.", percent_or_none(s.overlap_ratio),
                            percent_or_none(s.input_wait_share), percent_or_none(s.host_share));
}

std::string cost_words(const Bottleneck& b) {
  return fmt::format("costs {} ms of a step{}", cost_text(b),
                     b.share ? fmt::format(", {}", format_percent(*b.share)) : "");
}

std::string without_label(const std::string& text, const CaseResult& one) {
  return text.starts_with(one.label + ": ") ? text.substr(one.label.size() + 2) : text;
}

std::string bottleneck_list(const CaseResult& one, const std::vector<Bottleneck>& found) {
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& b = found[i];
    text += fmt::format("{}  {}\n   {}\n", i + 1, without_label(b.finding.text, one), cost_words(b));
    if (!b.finding.evidence.empty()) text += fmt::format("   evidence: {}\n", b.finding.evidence);
    if (!b.finding.advice.empty()) text += fmt::format("   try: {}\n", b.finding.advice);
  }
  return text.empty() ? "no bottleneck found\n" : text;
}

std::string bottlenecks_text(const result::RunResult& run, std::string_view target) {
  std::string text;
  for (const CaseResult& one : run.cases) {
    if (!is_trained(one)) continue;
    text += fmt::format("\nbottlenecks of {}\n{}\n", one.label, shape_text(one));
    const auto found = analysis::bottlenecks_of(one, run.findings, target);
    text += found.empty() && target != "all" ? fmt::format("no bottleneck found of {}\n", target)
                                             : bottleneck_list(one, found);
  }
  return text;
}

constexpr Subject kBottlenecks{
    .id = "bottlenecks", .heading = "Where a step loses time", .of_runs = bottleneck_sections};

}  // namespace paceline::report
