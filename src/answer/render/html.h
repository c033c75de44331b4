// SPDX-License-Identifier: MIT
// Renders tables, charts and sections for the page; each returns escaped markup, empty where there is nothing
// to say.
#pragma once
#include <string>
#include <string_view>

#include "answer/section.h"

namespace paceline::answer {

std::string html_of(const Table& table);
std::string html_of(const Chart& chart);
std::string html_of(const Section& section);
std::string html_of(const Sections& sections);

std::string scrolling(const std::string& html);  // in a box that scrolls sideways
std::string bare_html_of(const Table& table);    // also without rows, and without such a box
std::string formula_link(std::string_view metric);

}  // namespace paceline::answer
