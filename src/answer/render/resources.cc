// SPDX-License-Identifier: MIT
// Hands out files that were embedded at build time.
#include "answer/render/page.h"

#define PACELINE_RESOURCE(name, function)                           \
  extern "C" const char paceline_##name[], paceline_##name##_end[]; \
  std::string_view paceline::answer::function() {                   \
    return {paceline_##name, paceline_##name##_end};                \
  }

PACELINE_RESOURCE(page_html, page_template)
PACELINE_RESOURCE(style_css, page_style)
PACELINE_RESOURCE(plot_css, page_plot_style)
PACELINE_RESOURCE(app_js, page_script)
