# SPDX-License-Identifier: MIT
# SPDX-License-Identifier: MIT
# LibTorch as our own INTERFACE target paceline::libtorch. find_package(Torch) is avoided on purpose: it probes for a CUDA
# toolkit, may enable CUDA as a language and leaks flags. Sets TORCH_FOUND_VERSION, TORCH_LIB_DIR, TORCH_PROBLEM.

# The root: -DPACELINE_TORCH_ROOT, then the environment, the active virtual environment, what scripts/setup.sh unpacks.
function(paceline_find_torch_root result)
  set(candidates ${PACELINE_TORCH_ROOT} $ENV{PACELINE_TORCH_ROOT})
  if(NOT candidates)
    file(GLOB candidates $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/torch)
    if(NOT DEFINED ENV{VIRTUAL_ENV})
      set(candidates "")
    endif()
    list(APPEND candidates ${PROJECT_SOURCE_DIR}/.deps/torch/torch)
  endif()
  set(${result} "" PARENT_SCOPE)
  foreach(root IN LISTS candidates)
    if(EXISTS ${root}/include/ATen/ATen.h AND EXISTS ${root}/lib/libtorch_cpu.so)
      set(${result} ${root} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# "2.15.0" out of torch/headeronly/version.h, or of torch/version.h in releases before it moved.
function(paceline_torch_version root result)
  foreach(header include/torch/headeronly/version.h include/torch/csrc/api/include/torch/version.h)
    if(EXISTS ${root}/${header})
      file(STRINGS ${root}/${header} lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
      if(lines)
        string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3" version "${lines}")
        set(${result} ${version} PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  set(${result} "unknown" PARENT_SCOPE)
endfunction()

function(paceline_add_libtorch root)
  add_library(paceline_libtorch INTERFACE)
  add_library(paceline::libtorch ALIAS paceline_libtorch)
  target_include_directories(paceline_libtorch SYSTEM INTERFACE
    ${root}/include ${root}/include/torch/csrc/api/include)
  # Torch headers change class layouts without NDEBUG, and the libraries were built with it.
  target_compile_definitions(paceline_libtorch INTERFACE NDEBUG)
  target_link_libraries(paceline_libtorch INTERFACE
    -Wl,--no-as-needed ${root}/lib/libtorch_cpu.so -Wl,--as-needed ${root}/lib/libc10.so)
endfunction()

paceline_find_torch_root(TORCH_FOUND_ROOT)
paceline_decide(TORCH TITLE LibTorch ROOT "${TORCH_FOUND_ROOT}")
if(NOT TORCH_PROBLEM)
  paceline_torch_version(${TORCH_FOUND_ROOT} TORCH_FOUND_VERSION)
  paceline_add_libtorch(${TORCH_FOUND_ROOT})
  set(TORCH_LIB_DIR ${TORCH_FOUND_ROOT}/lib)
  set(PACELINE_TORCH_RPATH ${TORCH_LIB_DIR})
  if(PACELINE_BUNDLE)  # whose launcher says where LibTorch is; beside a plug-in lie only our own libraries
    set(PACELINE_TORCH_RPATH "$ORIGIN/../..")
  endif()
  message(STATUS "LibTorch ${TORCH_FOUND_VERSION} in ${TORCH_FOUND_ROOT}")
endif()
