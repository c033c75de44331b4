// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

// Files embedded at build time (resources.S).
namespace paceline::report {

std::string_view page_template();
std::string_view page_style();
std::string_view page_script();

// Empty when plotly.min.js was not there at build time: then the page has tables only and says so.
std::string_view plotly_script();

}  // namespace paceline::report
