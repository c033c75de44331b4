// SPDX-License-Identifier: MIT
// Writes the report as Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/case_query.h"
#include "analysis/closing_sentence.h"
#include "analysis/finding_table.h"
#include "analysis/verdict.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/cross_check_text.h"
#include "report/documents.h"
#include "report/environment_rows.h"
#include "report/escape.h"
#include "report/layer_text.h"
#include "report/operator_text.h"
#include "report/simple_table.h"
#include "report/training_text.h"

namespace paceline::report {
namespace {

using result::RunResult;

// Inside backticks nothing is markup, but a terminal may display the document.
std::string code_span(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text;
}

std::string head_text(std::span<const ReportRun> runs) {
  std::string out;
  for (std::size_t index = 0; index < runs.size(); ++index) {
    const RunResult& run = runs[index].result;
    const std::string name = runs.size() > 1 ? "Run " + run_letter(index) + ": " : "";
    const std::string libraries = library_line(run), closing = analysis::closing_sentence(run);
    out += fmt::format("# {}{}\n\n{}\n\n", name, escape_markdown(title_of(run)),
                       escape_markdown(closing.empty() ? analysis::verdict_sentence(run) : closing));
    if (const auto unfinished = analysis::unfinished_text(run); !closing.empty() && !unfinished.empty())
      out += escape_markdown(unfinished) + "\n\n";
    out += fmt::format(
        "Run `{}`, started {}, on {}.\n\n", code_span(run.run_id), escape_markdown(run.started_utc),
        escape_markdown(machine_line(run.environment) + (libraries.empty() ? "" : " · " + libraries)));
  }
  return out;
}

std::string escaped_or_dash(const std::string& cell) {
  return cell.empty() ? kNone : escape_markdown(cell);
}

std::string numbers_row(const ReportCase& entry, bool kept) {
  const CaseCells cells = cells_of(entry.run->result, *entry.one);
  return fmt::format(" {} | {} | {} | {} |{} {} | {} | {} |\n", escaped_or_dash(cells.p50_ms),
                     escaped_or_dash(cells.p99_ms), escaped_or_dash(cells.throughput),
                     cells.no_claim.empty() ? escaped_or_dash(cells.speedup) : "no claim",
                     kept ? " " + escaped_or_dash(cells.kept) + " |" : "", escaped_or_dash(cells.memory),
                     escaped_or_dash(cells.foreign), escaped_or_dash(grade_text(*entry.one, kReasonsShown)));
}

std::string case_row(const ReportCase& entry, bool kept) {
  std::string row = "| " + escape_markdown(entry.one->label) + " |";
  if (!entry.letter.empty()) row += " " + entry.letter + " |";
  const std::string instead = outcome_text(*entry.one);
  if (instead.empty()) return row + numbers_row(entry, kept);
  return row + " – | – | – | – |" + (kept ? " – |" : "") + " – | – | " + escape_markdown(instead) + " |\n";
}

std::string cases_text(std::span<const ReportRun> runs) {
  const bool several = runs.size() > 1, kept = shows_kept(runs);
  std::string out =
      fmt::format("| case |{} p50 ms | p99 ms | {} | vs baseline |{} memory | foreign CPU | grade |\n|:--|{}",
                  several ? " run |" : "", throughput_head(runs.front().result), kept ? " top-1 kept |" : "",
                  several ? ":--|" : "");
  out += std::string("--:|--:|--:|--:|") + (kept ? "--:|" : "") + "--:|--:|:--|\n";
  for (const ReportCase& entry : side_by_side(runs)) out += case_row(entry, kept);
  std::string notes;
  const auto note = [&](std::string_view what, const std::string& reason) {
    if (reason.empty()) return;
    const auto line = fmt::format("\n{}: {}.\n", what, escape_markdown(reason));
    if (notes.find(line) == std::string::npos) notes += line;
  };
  for (const ReportCase& entry : side_by_side(runs)) {
    if (outcome_text(*entry.one).empty()) note("No p99", p99_reason(*entry.one));
    note("No claim", analysis::no_claim_reason(*entry.one));
  }
  return out + notes + "\n";
}

// What a reader of the table must know: the warnings of the run and the gravest findings.
std::string warnings_text(const RunResult& run) {
  constexpr std::size_t kShown = 3;
  std::string out;
  for (const auto& warning : run.warnings) out += fmt::format("- Warning: {}\n", escape_markdown(warning));
  auto findings = findings_of(run);
  std::erase_if(findings, [](const auto& f) { return f.severity != "problem" && f.severity != "warning"; });
  for (const auto& finding : analysis::rank_findings(findings, kShown))
    out += fmt::format("- **{}**: {}{}\n", escape_markdown(finding.severity), escape_markdown(finding.text),
                       finding.advice.empty() ? "" : " " + escape_markdown(finding.advice));
  if (findings.size() > kShown)
    out += fmt::format("- and {} more in the HTML report\n", findings.size() - kShown);
  return out;
}

// How many gates were met, and each that was not.
std::string gates_text(const RunResult& run) {
  if (run.gates.empty()) return {};
  const auto met = std::count_if(run.gates.begin(), run.gates.end(),
                                 [](const auto& gate) { return gate.verdict == "met"; });
  std::string out = fmt::format("- {} of {} met\n", met, plural(std::ssize(run.gates), "gate"));
  for (const auto& gate : run.gates)
    if (gate.verdict != "met")
      out += fmt::format("- {}: {} ({})\n", escape_markdown(gate.verdict), escape_markdown(gate.expression),
                         escape_markdown(gate.detail));
  return out;
}

std::string tail_text(const RunResult& run, const std::string& letter) {
  const std::string of = letter.empty() ? "" : " run " + letter;
  const std::string points = warnings_text(run) + gates_text(run);
  return fmt::format("{}{}Reproduce{}: `{}`\n\n", points, points.empty() ? "" : "\n", of,
                     code_span(run.command_line));
}

}  // namespace

std::string render_markdown(std::span<const ReportRun> runs, const RenderOptions&) {
  if (runs.empty()) return {};
  std::string out = head_text(runs) + cases_text(runs) + training_markdown(runs) + operators_markdown(runs) +
                    cross_checks_markdown(runs) + layers_markdown(runs);
  for (std::size_t index = 0; index < runs.size(); ++index)
    out += tail_text(runs[index].result, runs.size() > 1 ? run_letter(index) : "");
  return out;
}

}  // namespace paceline::report
