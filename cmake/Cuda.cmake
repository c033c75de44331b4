# SPDX-License-Identifier: MIT
# LibTorch with CUDA as paceline::libtorch_cuda: the wheel's libtorch_cuda.so and the headers of a CUDA toolkit. No device and none of
# the CUDA libraries that LibTorch itself loads is needed to build. Sets CUDA_FOUND_VERSION, CUDA_PROBLEM, CUDA_FIX.

# The root: -DPACELINE_CUDA_ROOT, then the environment, what pip put beside LibTorch (of LibTorch's own version), the usual place.
# cusolverDn.h, crt/ and nv/ lie in packages of their own, which a folder need not have.
function(paceline_find_cuda_root result)
  set(candidates ${PACELINE_CUDA_ROOT})
  if(NOT candidates)
    set(candidates $ENV{CUDA_HOME} $ENV{CUDA_PATH})
    if(TORCH_FOUND_ROOT)
      get_filename_component(torch ${TORCH_FOUND_ROOT} REALPATH)
      get_filename_component(site ${torch} DIRECTORY)
      file(GLOB beside ${site}/nvidia/cu[0-9]*)
      list(APPEND candidates ${beside})
    endif()
    list(APPEND candidates /usr/local/cuda)
  endif()
  set(${result} "" PARENT_SCOPE)
  foreach(root IN LISTS candidates)
    set(include ${root}/include)
    if(EXISTS ${include}/cuda_runtime_api.h AND EXISTS ${include}/cusolverDn.h AND EXISTS ${include}/crt/host_defines.h
       AND (EXISTS ${include}/nv/target OR EXISTS ${include}/cccl/nv/target))
      set(${result} ${root} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# "13.0" out of "#define CUDA_VERSION 13000".
function(paceline_cuda_version root result)
  file(STRINGS ${root}/include/cuda.h line REGEX "#define CUDA_VERSION ")
  string(REGEX REPLACE ".* ([0-9]+).*" "\\1" number "${line}")
  math(EXPR major "${number} / 1000")
  math(EXPR minor "${number} % 1000 / 10")
  set(${result} "${major}.${minor}" PARENT_SCOPE)
endfunction()

# "13.0" out of "cuda: Optional[str] = '13.0'" of torch/version.py; empty where nothing says it.
function(paceline_torch_cuda_version torch_root result)
  set(version "")
  if(EXISTS ${torch_root}/version.py)
    file(STRINGS ${torch_root}/version.py line REGEX "^cuda[^a-z_]")
    string(REGEX MATCH "'([0-9.]+)'" line "${line}")
    set(version "${CMAKE_MATCH_1}")
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Why headers of one version do not go with a LibTorch built for another: structures of the runtime change with its first number.
function(paceline_cuda_mismatch headers library result)
  set(${result} "" PARENT_SCOPE)
  string(REGEX MATCH "^[0-9]+" headers_major "${headers}")
  string(REGEX MATCH "^[0-9]+" library_major "${library}")
  if(library_major AND NOT headers_major STREQUAL library_major)
    set(${result} "the headers in ${CUDA_FOUND_ROOT} are of CUDA ${headers}, its LibTorch was built for ${library}" PARENT_SCOPE)
  endif()
endfunction()

paceline_find_cuda_root(CUDA_FOUND_ROOT)
paceline_decide(CUDA TITLE "CUDA toolkit" ROOT "${CUDA_FOUND_ROOT}")
if(CUDA_PROBLEM MATCHES "^no ")  # set-up does not install it
  set(CUDA_FIX "install a CUDA toolkit (beside a PyTorch with its CUDA wheels: pip install nvidia-cuda-crt nvidia-cuda-cccl, of its version), or configure with -DPACELINE_CUDA_ROOT=<folder whose include/ holds cusolverDn.h, crt/ and nv/>")
elseif(NOT CUDA_PROBLEM AND TORCH_PROBLEM)
  set(CUDA_PROBLEM "it builds on LibTorch: ${TORCH_PROBLEM}")
  set(CUDA_FIX "${TORCH_FIX}")
elseif(NOT CUDA_PROBLEM AND NOT EXISTS ${TORCH_LIB_DIR}/libtorch_cuda.so)
  set(CUDA_PROBLEM "the LibTorch in ${TORCH_LIB_DIR} was built without CUDA")
  set(CUDA_FIX "configure with -DPACELINE_TORCH_ROOT=<a PyTorch with CUDA>")
endif()
if(NOT CUDA_PROBLEM)
  paceline_cuda_version(${CUDA_FOUND_ROOT} CUDA_FOUND_VERSION)
  paceline_torch_cuda_version(${TORCH_FOUND_ROOT} TORCH_CUDA_VERSION)
  paceline_cuda_mismatch("${CUDA_FOUND_VERSION}" "${TORCH_CUDA_VERSION}" CUDA_PROBLEM)
  set(CUDA_FIX "configure with -DPACELINE_CUDA_ROOT=<a CUDA ${TORCH_CUDA_VERSION}>")
endif()
if(NOT CUDA_PROBLEM)
  add_library(paceline_libtorch_cuda INTERFACE)
  add_library(paceline::libtorch_cuda ALIAS paceline_libtorch_cuda)
  target_include_directories(paceline_libtorch_cuda SYSTEM INTERFACE ${CUDA_FOUND_ROOT}/include ${CUDA_FOUND_ROOT}/include/cccl)
  target_link_libraries(paceline_libtorch_cuda INTERFACE paceline::libtorch
    -Wl,--no-as-needed ${TORCH_LIB_DIR}/libtorch_cuda.so -Wl,--as-needed ${TORCH_LIB_DIR}/libc10_cuda.so)
  message(STATUS "CUDA ${CUDA_FOUND_VERSION} in ${CUDA_FOUND_ROOT}")
endif()
