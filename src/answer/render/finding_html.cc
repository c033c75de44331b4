// SPDX-License-Identifier: MIT
#include "answer/render/finding_html.h"

#include <fmt/format.h>

#include "answer/render/escape.h"

namespace paceline::answer {

std::string folded(std::string_view title, const std::string& text) {
  return fmt::format("<details class=\"evidence\"><summary>{}</summary>{}</details>", title,
                     escape_html(text));
}

std::string finding_html(const Finding& finding, FindingParts parts) {
  std::string out = fmt::format("<li class=\"finding\"><span class=\"severity severity-{0}\">{0}</span> {1}",
                                escape_html(finding.severity), escape_html(finding.text));
  if (parts == FindingParts::kAll && !finding.cost.empty()) out += "<br>" + escape_html(finding.cost);
  if (parts == FindingParts::kAll && !finding.advice.empty())
    out += "<br>Try: " + escape_html(finding.advice);
  if (parts != FindingParts::kText && !finding.evidence.empty()) out += folded("Evidence", finding.evidence);
  return out + "</li>\n";
}

}  // namespace paceline::answer
