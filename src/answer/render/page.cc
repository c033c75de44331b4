// SPDX-License-Identifier: MIT
#include "answer/render/page.h"

#include "answer/render/escape.h"

namespace paceline::answer {

std::string filled(std::string_view page, const PageValues& values) {
  std::string out;
  while (true) {
    const auto open = page.find("{{");
    const auto close = page.find("}}", open);
    if (open == std::string_view::npos || close == std::string_view::npos) return out.append(page);
    const auto found = values.find(page.substr(open + 2, close - open - 2));
    out.append(page.substr(0, open));
    if (found != values.end()) out += found->second;
    page.remove_prefix(close + 2);
  }
}

std::string page_of(const PageParts& parts) {
  return filled(page_template(), {{"title", escape_html(parts.title)},
                                  {"style", std::string(page_style()).append(page_plot_style())},
                                  {"first", parts.first},
                                  {"skip", parts.skip},
                                  {"header", parts.header},
                                  {"links", parts.links},
                                  {"main", parts.main},
                                  {"script", std::string(page_script())}});
}

}  // namespace paceline::answer
