// SPDX-License-Identifier: MIT
// Writes the report as Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/case_query.h"
#include "analysis/finding_table.h"
#include "analysis/verdict.h"
#include "base/display_text.h"
#include "base/lower_case.h"
#include "base/text.h"
#include "base/units.h"
#include "report/answer_parts.h"
#include "report/case_cells.h"
#include "report/environment_rows.h"
#include "report/format_table.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

// The commit of the user's sources and the notes, a paragraph each.
std::string user_text(const RunResult& run) {
  std::string out;
  if (const auto commit = commit_words(run.environment); !commit.empty())
    out += fmt::format("Commit {}.\n\n", escape_markdown(commit));
  for (const auto& note : notes_of(run.environment))
    out += fmt::format("Note: {}\n\n", escape_markdown(note));
  return out;
}

std::string head_text(const RunResult& run, const std::string& letter) {
  const std::string libraries = library_line(run);
  std::string lines;
  for (const auto& line : analysis::headline(run)) lines += escape_markdown(line) + "\n\n";
  return fmt::format(
      "# {}{}\n\n{}{}. Run {}, started {}, on {}.\n\n{}", letter.empty() ? "" : "Run " + letter + ": ",
      escape_markdown(title_of(run)), lines, analysis::counts_text(run), code_span(run.run_id),
      escape_markdown(run.started_utc),
      escape_markdown(machine_line(run.environment) + (libraries.empty() ? "" : " · " + libraries)),
      user_text(run));
}

std::string titled(const Section& section) {
  std::string out = markdown_of(section.table);
  for (const auto& text : section.paragraphs) out += escape_markdown(text) + "\n\n";
  return out.empty() || section.title.empty()
             ? out
             : fmt::format("### {}\n\n{}", escape_markdown(section.title), out);
}

std::string subject_text(const Subject& subject, std::span<const ReportRun> runs) {
  std::string out;
  if (subject.of_runs)
    for (const Section& section : subject.of_runs(runs, Form::kMarkdown)) {
      out += titled(section);
      for (const auto& note : section.notes) out += "- " + escape_markdown(note) + "\n";
    }
  for (const ReportCase& entry : side_by_side(runs)) {
    if (subject.case_heading.empty()) break;
    const std::string label = escape_markdown(entry.one->label), run = "run " + entry.letter;
    const bool several = !entry.letter.empty();
    for (const Section& section : subject.of_case(entry)) {
      const std::string text = escape_markdown(join(section.paragraphs, " "));
      out += subject.listed ? fmt::format("- {}{}: {}\n", several ? run + ", " : "", label, text)
                            : fmt::format("### {}{}\n\n{}\n\n{}", label, several ? " (" + run + ")" : "",
                                          text, markdown_of(section.table));
    }
  }
  if (out.empty()) return {};
  if (!out.ends_with("\n\n")) out += "\n";
  const auto caveat = subject.caveat.empty() ? "" : fmt::format("{}\n\n", subject.caveat);
  return fmt::format("## {}\n\n{}{}", subject.heading, caveat, out);
}

// Remarks for readers of the table: the warnings of the run and the most severe findings.
std::string warnings_text(const RunResult& run) {
  constexpr std::size_t kShown = 3;
  std::string out;
  for (const auto& warning : run.warnings) out += fmt::format("- Warning: {}\n", escape_markdown(warning));
  auto findings = findings_of(run);
  std::erase_if(findings, [](const auto& f) { return f.severity != "problem" && f.severity != "warning"; });
  for (const auto& finding : analysis::shown_findings(run, findings, kShown))
    out += fmt::format("- **{}**: {}{}\n", escape_markdown(finding.severity), escape_markdown(finding.text),
                       finding.advice.empty() ? "" : " " + escape_markdown(finding.advice));
  if (findings.size() > kShown)
    out += fmt::format("- and {} more in the HTML report\n", findings.size() - kShown);
  return out;
}

// How many gates were met, and each that was not.
std::string gates_text(const RunResult& run) {
  if (run.gates.empty()) return {};
  const auto met = std::ranges::count(run.gates, answer::Verdict::kYes, &result::GateResult::verdict);
  std::string out = fmt::format("- {} of {} met\n", met, plural(std::ssize(run.gates), "gate"));
  for (const auto& gate : run.gates)
    if (gate.verdict != answer::Verdict::kYes)
      out += fmt::format("- {}: {} ({})\n", escape_markdown(gate.verdict.words()),
                         escape_markdown(gate.expression), escape_markdown(gate.detail));
  return out;
}

std::string tail_text(const RunResult& run, const std::string& letter) {
  const std::string of = letter.empty() ? "" : " run " + letter;
  const std::string points = warnings_text(run) + gates_text(run);
  return fmt::format("{}{}Reproduce{}: {}\n\n", points, points.empty() ? "" : "\n", of,
                     code_span(run.command_line));
}

}  // namespace

std::string render_markdown(std::span<const ReportRun> runs, const RenderOptions&) {
  if (runs.empty()) return {};
  std::string out = of_each(runs, head_text);
  if (const auto words = between_runs(runs); !words.empty()) out += words + "\n\n";
  out += bare_markdown_of(case_table(runs, Form::kMarkdown));
  for (const Subject* subject : kSubjects) out += subject_text(*subject, runs);
  return out + of_each(runs, tail_text);
}

}  // namespace paceline::report
