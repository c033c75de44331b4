// SPDX-License-Identifier: MIT
// Paths come from CMakeLists.txt; without PACELINE_PLOTLY_JS the symbol is there and empty.
#define RESOURCE(name, file) \
  .global paceline_##name; paceline_##name: .incbin file; \
  .global paceline_##name##_end; paceline_##name##_end: .byte 0
#define NO_RESOURCE(name) \
  .global paceline_##name; paceline_##name: \
  .global paceline_##name##_end; paceline_##name##_end: .byte 0

  .section .rodata
  RESOURCE(page_html, PACELINE_PAGE_HTML)
  RESOURCE(style_css, PACELINE_STYLE_CSS)
  RESOURCE(plot_css, PACELINE_PLOT_CSS)
  RESOURCE(app_js, PACELINE_APP_JS)
#ifdef PACELINE_PLOTLY_JS
  RESOURCE(plotly_js, PACELINE_PLOTLY_JS)
#else
  NO_RESOURCE(plotly_js)
#endif
  .section .note.GNU-stack,"",%progbits
