// SPDX-License-Identifier: MIT
// The page around an answer or a run; style and script are embedded at build time (resources.S).
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace paceline::answer {

std::string_view page_template();
std::string_view page_style();
std::string_view page_plot_style();
std::string_view page_script();

// Replaces each {{name}} once; inserted text is not searched again.
using PageValues = std::map<std::string, std::string, std::less<>>;
std::string filled(std::string_view page, const PageValues& values);

// Markup, but for the title, which is plain text.
struct PageParts {
  std::string title, header, links, main;
  std::string first, skip;  // id and words of the link for those who jump over the head
};
std::string page_of(const PageParts& parts);

}  // namespace paceline::answer
