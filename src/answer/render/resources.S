// SPDX-License-Identifier: MIT
// The files of the page, embedded; their paths come from CMakeLists.txt.
#define RESOURCE(name, file) \
  .global paceline_##name; paceline_##name: .incbin file; \
  .global paceline_##name##_end; paceline_##name##_end: .byte 0

  .section .rodata
  RESOURCE(page_html, PACELINE_PAGE_HTML)
  RESOURCE(style_css, PACELINE_STYLE_CSS)
  RESOURCE(plot_css, PACELINE_PLOT_CSS)
  RESOURCE(app_js, PACELINE_APP_JS)
  .section .note.GNU-stack,"",%progbits
