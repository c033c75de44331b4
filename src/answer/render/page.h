// SPDX-License-Identifier: MIT
// The files of the page, embedded at build time (resources.S).
#pragma once
#include <string_view>

namespace paceline::answer {

std::string_view page_template();
std::string_view page_style();
std::string_view page_plot_style();
std::string_view page_script();

}  // namespace paceline::answer
