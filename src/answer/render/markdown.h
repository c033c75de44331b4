// SPDX-License-Identifier: MIT
// Renders tables for Markdown.
#pragma once
#include <string>

#include "answer/section.h"

namespace paceline::answer {

// Empty without rows; `bare_`: the heads stand alone then.
std::string markdown_of(const Table& table);
std::string bare_markdown_of(const Table& table);

// Inside backticks nothing is markup. More of them than stand in a row in the text, so that it cannot end the
// span; a space keeps those at its ends apart, and is not shown.
std::string code_span(const std::string& text);

}  // namespace paceline::answer
