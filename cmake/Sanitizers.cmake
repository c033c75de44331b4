# SPDX-License-Identifier: MIT
# One switch for every target, so that no object is left uninstrumented.
if(PACELINE_SANITIZE)
  # Instrumented code makes g++ see uninitialised values that are not; the release build looks for the real ones.
  add_compile_options(-fsanitize=${PACELINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=${PACELINE_SANITIZE})
endif()
