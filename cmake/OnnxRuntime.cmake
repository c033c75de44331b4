# SPDX-License-Identifier: MIT
# ONNX Runtime's headers as the INTERFACE target paceline::onnxruntime. The library itself is opened at run time: nothing links
# it. Sets ONNXRUNTIME_PROBLEM, ONNXRUNTIME_FIX, ONNXRUNTIME_API_VERSION and ONNXRUNTIME_LIBRARY (a path).

# Headers lie in include/ or include/onnxruntime/, the library in lib/.
function(paceline_find_onnxruntime root)
  set(ONNXRUNTIME_FOUND_ROOT "" PARENT_SCOPE)
  foreach(folder ${root}/include ${root}/include/onnxruntime)
    if(EXISTS ${folder}/onnxruntime_cxx_api.h)
      set(include ${folder})
    endif()
  endforeach()
  file(GLOB libraries ${root}/lib/libonnxruntime.so* ${root}/lib/*/libonnxruntime.so*)
  if(include AND libraries)
    list(GET libraries 0 library)
    set(ONNXRUNTIME_FOUND_ROOT ${root} PARENT_SCOPE)
    set(ONNXRUNTIME_INCLUDE_DIR ${include} PARENT_SCOPE)
    set(ONNXRUNTIME_LIBRARY ${library} PARENT_SCOPE)
  endif()
endfunction()

set(ONNXRUNTIME_ROOTS ${PACELINE_ONNXRUNTIME_ROOT} $ENV{ONNXRUNTIME_ROOT})
if(NOT ONNXRUNTIME_ROOTS)
  set(ONNXRUNTIME_ROOTS ${PROJECT_SOURCE_DIR}/.deps/onnxruntime)
endif()
list(GET ONNXRUNTIME_ROOTS 0 ONNXRUNTIME_FIRST_ROOT)
paceline_find_onnxruntime(${ONNXRUNTIME_FIRST_ROOT})
paceline_decide(ONNXRUNTIME TITLE "ONNX Runtime" ROOT "${ONNXRUNTIME_FOUND_ROOT}")
if(NOT ONNXRUNTIME_PROBLEM)
  file(STRINGS ${ONNXRUNTIME_INCLUDE_DIR}/onnxruntime_c_api.h line REGEX "#define ORT_API_VERSION ")
  string(REGEX REPLACE ".*ORT_API_VERSION ([0-9]+).*" "\\1" ONNXRUNTIME_API_VERSION "${line}")
  add_library(paceline_onnxruntime INTERFACE)
  add_library(paceline::onnxruntime ALIAS paceline_onnxruntime)
  target_include_directories(paceline_onnxruntime SYSTEM INTERFACE ${ONNXRUNTIME_INCLUDE_DIR})
  # Without it the headers' static initialisers call into a library that is not there yet.
  target_compile_definitions(paceline_onnxruntime INTERFACE ORT_API_MANUAL_INIT)
  target_link_libraries(paceline_onnxruntime INTERFACE ${CMAKE_DL_LIBS})
  message(STATUS "ONNX Runtime API ${ONNXRUNTIME_API_VERSION} in ${ONNXRUNTIME_FOUND_ROOT}")
endif()
