# SPDX-License-Identifier: MIT
# TensorRT's headers as the INTERFACE target paceline::tensorrt. The library itself is opened at run time: nothing links it. Sets
# TENSORRT_PROBLEM, TENSORRT_FIX and TENSORRT_FOUND_VERSION.

# The plug-in's sources, which its tests compile against a double of the headers too.
set(TENSORRT_PLUGIN_SOURCES plugin.cc library.cc message_log.cc tensors.cc network.cc build_options.cc timing_cache.cc plan_builder.cc
    driver.cc gpu.cc plan_file.cc plan_shapes.cc plan_slot.cc plan_engine.cc inspector.cc)
list(TRANSFORM TENSORRT_PLUGIN_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/plugins/tensorrt/)
list(APPEND TENSORRT_PLUGIN_SOURCES ${PROJECT_SOURCE_DIR}/plugins/support/engine_checks.cc ${PROJECT_SOURCE_DIR}/plugins/support/layer_work.cc)

# "10.16.0" out of NvInferVersion.h, whose defines may name one another.
function(paceline_tensorrt_version folder)
  file(STRINGS ${folder}/NvInferVersion.h lines REGEX "#define (NV_TENSORRT|TRT)_(MAJOR|MINOR|PATCH)(_ENTERPRISE)? [0-9]+")
  set(version "")
  foreach(part MAJOR MINOR PATCH)
    string(REGEX MATCH "(NV_TENSORRT|TRT)_${part}(_ENTERPRISE)? ([0-9]+)" line "${lines}")
    list(APPEND version "${CMAKE_MATCH_3}")
  endforeach()
  list(JOIN version . version)
  set(TENSORRT_FOUND_VERSION "${version}" PARENT_SCOPE)
endfunction()

set(TENSORRT_FOUND_ROOT "")
set(TENSORRT_ROOTS ${PACELINE_TENSORRT_ROOT} $ENV{TENSORRT_ROOT})
if(TENSORRT_ROOTS)
  list(GET TENSORRT_ROOTS 0 TENSORRT_FOUND_ROOT)
  find_path(TENSORRT_INCLUDE_DIR NvInfer.h PATHS ${TENSORRT_FOUND_ROOT}/include ${TENSORRT_FOUND_ROOT} NO_DEFAULT_PATH NO_CACHE)
else()
  find_path(TENSORRT_INCLUDE_DIR NvInfer.h NO_CACHE)
endif()
find_path(TENSORRT_CUDA_INCLUDE_DIR cuda_runtime_api.h
  HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include NO_CACHE)
if(NOT TENSORRT_INCLUDE_DIR)
  set(TENSORRT_INCLUDE_DIR "")
endif()
paceline_decide(TENSORRT TITLE "headers of TensorRT" ROOT "${TENSORRT_INCLUDE_DIR}")
if(TENSORRT_PROBLEM MATCHES "^no ")  # set-up does not install it
  set(TENSORRT_FIX "configure with -DPACELINE_TENSORRT_ROOT=<folder whose include/ holds NvInfer.h and NvOnnxParser.h>")
elseif(NOT TENSORRT_PROBLEM)
  paceline_tensorrt_version(${TENSORRT_INCLUDE_DIR})
  if(NOT TENSORRT_FOUND_VERSION MATCHES "^1[01][.]")
    set(TENSORRT_PROBLEM "the headers in ${TENSORRT_INCLUDE_DIR} are of version ${TENSORRT_FOUND_VERSION}; those of TensorRT 10 and 11 are known")
    set(TENSORRT_FIX "configure with -DPACELINE_TENSORRT_ROOT=<a TensorRT 10 or 11>")
  elseif(NOT TENSORRT_CUDA_INCLUDE_DIR)
    set(TENSORRT_PROBLEM "TensorRT's headers need cuda_runtime_api.h of a CUDA toolkit, which is not here")
    set(TENSORRT_FIX "install the toolkit's headers, or set CUDA_HOME")
  endif()
endif()
if(NOT TENSORRT_PROBLEM)
  add_library(paceline_tensorrt INTERFACE)
  add_library(paceline::tensorrt ALIAS paceline_tensorrt)
  target_include_directories(paceline_tensorrt SYSTEM INTERFACE ${TENSORRT_INCLUDE_DIR} ${TENSORRT_CUDA_INCLUDE_DIR})
  target_link_libraries(paceline_tensorrt INTERFACE ${CMAKE_DL_LIBS})
  message(STATUS "TensorRT headers ${TENSORRT_FOUND_VERSION} in ${TENSORRT_INCLUDE_DIR}")
endif()
