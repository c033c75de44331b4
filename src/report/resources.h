// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

// Hands out files that were embedded at build time (resources.S).
namespace paceline::report {

std::string_view page_template();
std::string_view page_style();
std::string_view page_script();

// Empty when plotly.min.js was missing at build time: the page then only has tables, and says so.
std::string_view plotly_script();

}  // namespace paceline::report
