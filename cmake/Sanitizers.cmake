# SPDX-License-Identifier: MIT
# One switch for every target, so that no object is left uninstrumented.
if(PACELINE_SANITIZE)
  add_compile_options(-fsanitize=${PACELINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PACELINE_SANITIZE})
endif()
