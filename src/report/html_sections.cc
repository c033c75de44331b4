// SPDX-License-Identifier: MIT
// The HTML page's sections on the run, findings, environment, formulas and how to reproduce.
#include <fmt/format.h>

#include <map>

#include "analysis/case_query.h"
#include "analysis/finding_table.h"
#include "analysis/verdict.h"
#include "answer/render/finding_html.h"
#include "base/text.h"
#include "report/answer_parts.h"
#include "report/environment_rows.h"
#include "report/html_parts.h"
#include "result/judged/noise_rules.h"
#include "result/metric_table.h"

namespace paceline::report {
namespace {

using answer::finding_html, answer::FindingParts, answer::folded;
using result::Finding;

// The worst grade among the measured cases; empty without any.
std::string worst_grade_html(const RunResult& run) {
  auto worst = result::Grade::kA;
  bool measured = false;
  for (const auto& one : run.cases)
    if (analysis::is_ok(one)) worst = std::max(worst, one.grade), measured = true;
  if (!measured) return "<span class=\"grade\">no grade: nothing was measured</span>";
  return fmt::format("<span class=\"grade grade-{0}\">worst grade {0}</span>", result::grade_letter(worst));
}

// Their versions behind a click, since some are sentences.
std::string libraries_html(const RunResult& run) {
  const std::string libraries = library_line(run);
  if (libraries.empty()) return {};
  return fmt::format(
      " · <span class=\"reasons\"><details><summary>versions of libraries</summary>{}</details></span>",
      escape_html(libraries));
}

// The commit of the user's sources and the notes.
std::string user_html(const RunResult& run) {
  std::string out;
  if (const auto commit = commit_words(run.environment); !commit.empty())
    out += "<div class=\"validity\">commit " + escape_html(commit) + "</div>\n";
  for (const std::string& note : notes_of(run.environment))
    out += "<div class=\"validity\">note: " + escape_html(note) + "</div>\n";
  return out;
}

// Grade, time, build, and the warnings of the run.
std::string validity_html(const RunResult& run) {
  std::string out = fmt::format(
      "<div class=\"validity\">{8} · {0} {1}</div>\n<div class=\"validity\">"
      "{2} to {3} · outcome {4} · paceline {5} ({6}, {7})</div>\n",
      worst_grade_html(run), escape_html(machine_line(run.environment)) + libraries_html(run),
      escape_html(run.started_utc),
      run.finished_utc.empty() ? "an unknown end" : escape_html(run.finished_utc), escape_html(run.outcome),
      escape_html(run.suite.version), escape_html(run.suite.build_type), escape_html(run.suite.compiler),
      analysis::counts_text(run));
  out += user_html(run);
  for (const std::string& warning : run.warnings)
    out += "<p class=\"warning\">" + escape_html(warning) + "</p>\n";
  return out;
}

// Each piece of advice once, with all findings that it is for.
std::string advice_html(const std::vector<Finding>& findings) {
  Groups advice;
  for (const Finding& finding : findings)
    if (!finding.advice.empty()) add_to(advice, finding.advice, finding.text);
  std::string out;
  for (const auto& [words, reasons] : advice)
    out += fmt::format("<li>{}{}</li>\n", escape_html(words), folded("Because", join(reasons, " ")));
  return out.empty() ? "<p>None: nothing found needs doing.</p>\n"
                     : "<ul class=\"findings\">" + out + "</ul>\n";
}

std::string gates_html(const RunResult& run) {
  Table table{.heads = {"expectation", "verdict", "measured"}, .numbers_from = kNoNumbers};
  for (const auto& gate : run.gates)
    table.add(gate.expression,
              Cell(std::string(gate.verdict.words()), html_id("gate-", gate.verdict.words())), gate.detail);
  return run.gates.empty() ? "" : "<h3>Gates</h3>" + html_of(table);
}

std::string of_run(const std::string& letter) {
  return letter.empty() ? "" : " of run " + letter;
}

}  // namespace

void add_to(Groups& groups, const std::string& key, std::string text) {
  auto group = std::ranges::find(groups, key, &Groups::value_type::first);
  if (group == groups.end()) group = groups.insert(group, {key, {}});
  group->second.push_back(std::move(text));
}

std::string run_html(const RunResult& run, const std::string& letter) {
  const std::string title = letter.empty()
                                ? ""
                                : fmt::format("<h2 class=\"run\"><b class=\"letter\">{}</b> {} · {}</h2>\n",
                                              letter, escape_html(title_of(run)), escape_html(run.run_id));
  std::string lines;
  for (const auto& line : analysis::headline(run))
    lines += fmt::format("<p class=\"verdict\">{}</p>\n", escape_html(line));
  return title + lines + validity_html(run);
}

std::string key_findings_html(std::span<const ReportRun> runs) {
  constexpr std::size_t kShown = 3;
  std::string out;
  for (const ReportRun& run : runs)
    for (const Finding& finding : analysis::shown_findings(run.result, findings_of(run.result), kShown))
      out += finding_html(finding, FindingParts::kText);
  return out.empty() ? "" : "<ol class=\"findings key\">" + out + "</ol>\n";
}

std::string findings_html(const RunResult& run, const std::string& letter) {
  const auto findings = findings_of(run);
  const std::string of = of_run(letter);
  std::string out = "<h3>Findings" + of + "</h3><ol class=\"findings\">\n";
  for (const Finding& finding : findings) out += finding_html(finding, FindingParts::kWithEvidence);
  return out + "</ol>\n<h3>Recommendations" + of + "</h3>\n" + advice_html(findings) + gates_html(run);
}

std::string environment_html(const RunResult& run, const std::string& letter) {
  const auto rows = flat_rows(run.environment);
  return fmt::format(
      "<details><summary>Machine, libraries and settings{} ({} fields)</summary>{}</details>\n",
      of_run(letter), rows.size(), scrolling(bare_html_of(rows_table(rows))));
}

std::string formulas_html() {
  static const std::map<result::Better, std::string> kBetter{{result::Better::kLower, "lower"},
                                                             {result::Better::kHigher, "higher"},
                                                             {result::Better::kNeither, kNone}};
  Table table{.heads = {"figure", "unit", "better", "what it is", "formula and reading"},
              .numbers_from = kNoNumbers,
              .row_heads = true};
  for (const auto& metric : result::metrics()) {
    Cell name(std::string(metric.title)), formula("");
    name.code = metric.name;
    formula.code = fmt::format("docs/metrics.md#{}", metric.topic.anchor);
    table.rows.push_back({.cells = {name, metric.unit == "1" ? "" : std::string(metric.unit),
                                    kBetter.at(metric.better), std::string(metric.meaning), formula},
                          .id = fmt::format("formula-{}", metric.name)});
  }
  return html_of(table);
}

std::string reproduce_html(const RunResult& run, const std::string& letter) {
  const std::string folder = analysis::run_folder(run);
  return fmt::format(
      "<p>Run{}{} again:</p><pre><code>{}\n</code></pre><p>From its effective plan, every default written "
      "out:</p><pre><code>paceline run {}\n</code></pre><p>This page from its files:</p>"
      "<pre><code>paceline report --source {} --format html\n</code></pre>\n",
      letter.empty() ? "" : " ", letter, escape_html(run.command_line),
      escape_html(analysis::shell_word(folder + "/plan.yaml")), escape_html(analysis::shell_word(folder)));
}

}  // namespace paceline::report
