# SPDX-License-Identifier: MIT
# paceline::warnings: PRIVATE to our own targets, never to what we include.
add_library(paceline_warnings INTERFACE)
add_library(paceline::warnings ALIAS paceline_warnings)
target_compile_options(paceline_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(PACELINE_WERROR)
  target_compile_options(paceline_warnings INTERFACE -Werror)
endif()
