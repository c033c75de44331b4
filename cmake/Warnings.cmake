# SPDX-License-Identifier: MIT
# paceline::warnings: PRIVATE to our own targets, never to what we include.
add_library(paceline_warnings INTERFACE)
add_library(paceline::warnings ALIAS paceline_warnings)
target_compile_options(paceline_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
# g++ 12 sees overlapping copies in "text" + std::string (GCC bug 105651); g++ 13 does not.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(paceline_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(PACELINE_WERROR)
  target_compile_options(paceline_warnings INTERFACE -Werror)
endif()
