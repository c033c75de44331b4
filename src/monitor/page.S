// SPDX-License-Identifier: MIT
// The page, embedded; its path comes from CMakeLists.txt.
  .section .rodata
  .global paceline_monitor_page; paceline_monitor_page: .incbin PACELINE_MONITOR_PAGE
  .global paceline_monitor_page_end; paceline_monitor_page_end: .byte 0
  .section .note.GNU-stack,"",%progbits
