// SPDX-License-Identifier: MIT
#include "report/resources.h"

#include <cstddef>

#define PACELINE_RESOURCE(name)            \
  extern "C" const char paceline_##name[]; \
  extern "C" const char paceline_##name##_end[]

PACELINE_RESOURCE(page_html);
PACELINE_RESOURCE(style_css);
PACELINE_RESOURCE(app_js);
PACELINE_RESOURCE(plotly_js);

namespace paceline::report {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view page_template() {
  return between(paceline_page_html, paceline_page_html_end);
}
std::string_view page_style() {
  return between(paceline_style_css, paceline_style_css_end);
}
std::string_view page_script() {
  return between(paceline_app_js, paceline_app_js_end);
}
std::string_view plotly_script() {
  return between(paceline_plotly_js, paceline_plotly_js_end);
}

}  // namespace paceline::report
