// SPDX-License-Identifier: MIT
// Renders the report for a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/case_query.h"
#include "analysis/finding_table.h"
#include "analysis/verdict.h"
#include "base/display_text.h"
#include "base/text.h"
#include "report/answer_parts.h"
#include "report/case_cells.h"
#include "report/format_table.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

constexpr std::size_t kGap = 2;

// The sections of a subject, first over all cases, then of each.
std::string subject_text(const Subject& subject, const ReportRun& run, const TerminalOptions& options) {
  std::string out;
  const auto add = [&](const std::vector<std::string>& texts, const std::string& lead = "") {
    for (const auto& text : texts) out += wrapped(lead + text, options, kGap);
  };
  if (subject.of_runs)
    for (const Section& section : subject.of_runs(std::span(&run, 1), Form::kTerminal)) {
      out += "\n" + terminal_of(section.table, options);
      add(section.notes);
    }
  if (subject.case_heading.empty()) return out;
  bool noted = false;
  for (const auto& one : run.result.cases)
    for (const Section& section : subject.of_case(alone(one))) {
      if (section.aside) continue;
      if (!subject.listed || out.empty())
        out += fmt::format("\n{}{}\n", subject.case_heading, subject.listed ? "" : on_one_line(one.label));
      out += terminal_of(section.table, options);
      add(section.paragraphs, subject.listed ? one.label + ": " : "");
      for (const auto& line : split(section.log, '\n'))
        if (!line.empty()) out += "  | " + on_one_line(line) + "\n";
      noted |= !section.notes.empty();
    }
  if (noted) add({std::string(subject.caveat)});
  return out;
}

std::string findings_text(const RunResult& run, const TerminalOptions& options) {
  constexpr std::size_t kIndent = 5;
  std::string out;
  int number = 0;
  for (const auto& finding : analysis::shown_findings(run, findings_of(run)))
    out += fmt::format("{:>3}  ", ++number) +
           wrapped(finding.text + (finding.advice.empty() ? "" : " " + finding.advice),
                   {options.width - kIndent, options.ascii}, kIndent)
               .substr(kIndent);
  return out.empty() ? out : "\nfindings\n" + out;
}

std::string legend(const RunResult& run, const std::string& letter) {
  return fmt::format("{}  {}  {}  {}\n", letter, on_one_line(title_of(run)), on_one_line(run.run_id),
                     on_one_line(run.started_utc));
}

// Table and findings. Narrow terminals lose columns from the right, never case and p50.
std::string body_of(std::span<const ReportRun> runs, const TerminalOptions& options, bool with_answers) {
  std::string out = runs.size() > 1 ? of_each(runs, legend) + "\n" : "";
  out += bare_terminal_of(case_table(runs, Form::kTerminal), options, 0);
  for (const ReportRun& run : runs) {
    std::string extras;
    for (const Subject* subject : kSubjects)
      extras += subject_text(*subject, run, {options.width - kGap, false, false});
    out += shown(extras, options) + findings_text(run.result, options);
    if (with_answers) out += terminal_answer(run.result, options);
  }
  if (const auto words = between_runs(runs); !words.empty()) out += "\n" + wrapped(words, options, 0);
  return out;
}

}  // namespace

std::string render_text(std::span<const ReportRun> runs, const RenderOptions& asked) {
  return runs.empty() ? "" : body_of(runs, within_limits(asked.terminal), true);
}

std::string terminal_table(const RunResult& run, const TerminalOptions& options) {
  const ReportRun only{run, {}};
  return body_of(std::span(&only, 1), within_limits(options), false);
}

std::string terminal_answer(const RunResult& run, const TerminalOptions& asked) {
  const TerminalOptions options = within_limits(asked);
  std::string out;
  for (const auto& line : analysis::headline(run))
    out += (out.empty() ? "\n" : "") + wrapped(line, options, 0);
  return out;
}

}  // namespace paceline::report
