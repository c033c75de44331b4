// SPDX-License-Identifier: MIT
// An answer as a page.
#include <fmt/format.h>

#include "answer/render/answer_forms.h"
#include "answer/render/escape.h"
#include "answer/render/finding_html.h"
#include "answer/render/html.h"
#include "answer/render/page.h"
#include "answer/render/tables.h"

namespace paceline::answer {
namespace {

struct Body {
  std::string links, main, first;
  int sections = 0;

  void add(std::string_view id, std::string_view title, const std::string& html) {
    if (html.empty()) return;
    if (first.empty()) first = id;
    ++sections;
    if (!title.empty()) links += fmt::format("<a href=\"#{}\">{}</a> ", id, escape_html(title));
    const auto heading = title.empty() ? "" : fmt::format("<h2>{}</h2>\n", escape_html(title));
    main += fmt::format("<section id=\"{}\">{}{}</section>\n", id, heading, html);
  }
};

std::string findings_html(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) out += finding_html(finding, FindingParts::kAll);
  return out.empty() ? out : "<ol class=\"findings\">\n" + out + "</ol>\n";
}

std::string remarks_html(const std::vector<std::string>& remarks) {
  std::string out;
  for (const auto& remark : remarks) out += fmt::format("<p class=\"note\">{}</p>\n", escape_html(remark));
  return out;
}

}  // namespace

std::string html_of(const Answer& answer) {
  Body body;
  body.add("checks", "Checks", html_of(checks_table(answer.checks)));
  std::size_t number = 0;
  for (Section section : answer.sections) {
    const auto title = std::exchange(section.title, {});
    body.add(fmt::format("section-{}", ++number), title, html_of(section));
  }
  body.add("findings", "Findings", findings_html(answer.findings));
  body.add("remarks", "Remarks", remarks_html(answer.remarks));
  return page_of({.title = answer.title,
                  .header = fmt::format("<p class=\"verdict\">{}</p>", escape_html(answer.sentence)),
                  .links = body.sections > 1 ? body.links : "",
                  .main = body.main,
                  .first = body.first,
                  .skip = "Skip to the first section"});
}

}  // namespace paceline::answer
