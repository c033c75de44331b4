// SPDX-License-Identifier: MIT
// The sections of the page of runs, embedded; the path comes from CMakeLists.txt.
  .section .rodata
  .global paceline_run_html; paceline_run_html: .incbin PACELINE_RUN_HTML
  .global paceline_run_html_end; paceline_run_html_end: .byte 0
  .section .note.GNU-stack,"",%progbits
