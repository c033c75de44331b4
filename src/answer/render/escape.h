// SPDX-License-Identifier: MIT
// Escapes text for HTML, Markdown and XML: names of models, paths and logs come from users.
#pragma once
#include <string>
#include <string_view>

namespace paceline::answer {

// All of them spell control characters out ("\x1b"), but for line ends and tabs; invalid UTF-8 becomes
// U+FFFD.
std::string escape_html(std::string_view text);  // text and quoted attributes
std::string escape_markdown(
    std::string_view text);                     // one cell of a table: no pipes, no markup, no line break
std::string escape_xml(std::string_view text);  // text and quoted attributes

// A fragment identifier from any text: letters, digits, '-' and '_' stay, all else becomes "-xx" in hex.
std::string html_id(std::string_view prefix, std::string_view text);

}  // namespace paceline::answer
