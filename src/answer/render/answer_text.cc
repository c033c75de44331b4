// SPDX-License-Identifier: MIT
// An answer on a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "answer/render/answer_forms.h"
#include "answer/text_layout.h"
#include "base/display_text.h"

namespace paceline::answer {
namespace {

std::string section_text(const Section& section, const TerminalOptions& options) {
  if (section.aside) return {};
  std::string out;
  for (const auto& text : section.paragraphs) out += wrapped(text, options, 0);
  out += terminal_of(section.table, options, 0);
  if (!section.chart.plots.empty()) out += wrapped(section.chart.reading, options, 0);
  for (const auto& note : section.notes) out += wrapped(note, options, 0);
  if (out.empty() || section.title.empty()) return out;
  return wrapped(section.title, options, 0) + out;
}

std::string checks_text(const std::vector<Check>& checks, const TerminalOptions& options) {
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, display_width(on_one_line(check.name)));
  std::string out;
  for (const Check& check : checks)
    out += shown(fmt::format("{}  {}  {}{}\n", traits_of(check.verdict).of_machine,
                             pad_right(on_one_line(check.name), width), on_one_line(check.text),
                             check.fix.empty() ? "" : "  → " + on_one_line(check.fix)),
                 options);
  return out;
}

std::string findings_text(const std::vector<Finding>& findings, const TerminalOptions& options) {
  constexpr std::size_t kIndent = 5;
  std::string out;
  int number = 0;
  const TerminalOptions narrower{options.width - kIndent, options.ascii, options.colour};
  const auto add = [&](const std::string& lead, const std::string& text) {
    if (!text.empty()) out += wrapped(lead + text, narrower, kIndent);
  };
  for (const Finding& finding : findings) {
    out += fmt::format("{:>3}  ", ++number) + wrapped(finding.text, narrower, kIndent).substr(kIndent);
    add("", finding.cost);
    add("evidence: ", finding.evidence);
    add("try: ", finding.advice);
  }
  return out.empty() ? out : "findings\n" + out;
}

}  // namespace

std::string terminal_of(const Answer& answer, const TerminalOptions& asked) {
  const auto options = within_limits(asked);
  std::string out;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) out += (out.empty() ? "" : "\n") + part;
  };
  for (const Section& section : answer.sections) add(section_text(section, options));
  add(checks_text(answer.checks, options));
  add(findings_text(answer.findings, options));
  std::string remarks;
  for (const auto& remark : answer.remarks) remarks += wrapped("! " + remark, options, 0);
  add(remarks);
  if (!answer.checks.empty() && answer.findings.empty() && answer.remarks.empty())
    return out + wrapped(answer.sentence, options, 0);  // it sums the checks up
  if (answer.findings.empty() || answer.findings.front().text != answer.sentence)
    add(wrapped(answer.sentence, options, 0));
  return out;
}

}  // namespace paceline::answer
