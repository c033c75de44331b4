// SPDX-License-Identifier: MIT
// An answer as Markdown.
#include <fmt/format.h>

#include "answer/render/answer_forms.h"
#include "answer/render/escape.h"
#include "answer/render/markdown.h"
#include "answer/render/tables.h"

namespace paceline::answer {
namespace {

constexpr std::size_t kUnfolded = 10;  // rows that a comment on a pull request has room for

// Longer tables open with a click.
std::string folded_markdown(const Table& table, std::string_view what) {
  if (table.rows.size() <= kUnfolded) return markdown_of(table);
  return fmt::format("<details><summary>{} {}</summary>\n\n{}</details>\n\n", table.rows.size(), what,
                     markdown_of(table));
}

// Folds many checks; those that did not pass stay in sight.
std::string checks_markdown(const std::vector<Check>& checks) {
  const auto all = folded_markdown(checks_table(checks), "checks");
  if (checks.size() <= kUnfolded) return all;
  std::vector<Check> open;
  for (const Check& check : checks)
    if (check.verdict != Verdict::kYes && check.verdict != Verdict::kNotAsked && open.size() < kUnfolded)
      open.push_back(check);
  return markdown_of(checks_table(open)) + all;
}

// A chart by itself, whose gist another section has.
bool is_picture(const Section& section) {
  return section.aside && section.table.rows.empty() && section.paragraphs.empty() && section.notes.empty();
}

std::string section_markdown(const Section& section) {
  if (is_picture(section)) return {};
  std::string out;
  for (const auto& text : section.paragraphs) out += escape_markdown(text) + "\n\n";
  out += folded_markdown(section.table, "rows");
  if (!section.chart.plots.empty()) out += escape_markdown(section.chart.reading) + "\n\n";
  for (const auto& note : section.notes) out += "- " + escape_markdown(note) + "\n";
  if (!section.notes.empty()) out += "\n";
  if (out.empty() || section.title.empty()) return out;
  return fmt::format("## {}\n\n{}", escape_markdown(section.title), out);
}

std::string finding_markdown(const Finding& finding) {
  std::string out =
      fmt::format("- **{}**: {}", escape_markdown(finding.severity), escape_markdown(finding.text));
  for (const auto& more : {finding.cost, finding.evidence, finding.advice})
    if (!more.empty()) out += fmt::format("\n  - {}", escape_markdown(more));
  return out + "\n";
}

std::string titled(std::string_view title, const std::string& text) {
  return text.empty() ? text : fmt::format("## {}\n\n{}\n", title, text);
}

}  // namespace

std::string markdown_of(const Answer& answer) {
  std::string out =
      fmt::format("# {}\n\n{}\n\n", escape_markdown(answer.title), escape_markdown(answer.sentence));
  out += titled("Checks", checks_markdown(answer.checks));
  for (const Section& section : answer.sections) out += section_markdown(section);
  std::string findings, remarks;
  for (const Finding& finding : answer.findings) findings += finding_markdown(finding);
  for (const auto& remark : answer.remarks) remarks += fmt::format("- {}\n", escape_markdown(remark));
  return out + titled("Findings", findings) + titled("Remarks", remarks);
}

}  // namespace paceline::answer
