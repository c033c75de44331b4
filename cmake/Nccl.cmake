# SPDX-License-Identifier: MIT
# NCCL's header for the cuda plug-in. LibTorch fills options whose size is that of its own nccl.h, so that only a header of the very
# release is taken that its package names. paceline_find_nccl sets NCCL_INCLUDE_DIR, or NCCL_PROBLEM: why there is none (no semicolon in it).

# "2.30.7" out of nccl.h.
function(paceline_nccl_header_version header result)
  set(version "")
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS ${header} line REGEX "#define NCCL_${part}[ \t]+[0-9]+")
    string(REGEX MATCH "NCCL_${part}[ \t]+([0-9]+)" line "${line}")
    list(APPEND version "${CMAKE_MATCH_1}")
  endforeach()
  list(JOIN version . version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# "2.30.7" out of "Requires-Dist: nvidia-nccl-cu13==2.30.7; …" of the package beside the torch folder; empty where nothing says it.
function(paceline_nccl_wanted torch_root result)
  set(version "${PACELINE_NCCL_VERSION}")
  paceline_beside_torch(${torch_root} site)
  file(GLOB metadata ${site}/torch-*.dist-info/METADATA)
  foreach(file IN LISTS metadata)
    file(STRINGS ${file} lines REGEX "^Requires-Dist: nvidia-nccl-cu[0-9]+ ?[(]?==")
    if(NOT version AND lines MATCHES "==([0-9.]+)")
      set(version "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# The folder that holds torch/ and what pip installed beside it.
function(paceline_beside_torch torch_root result)
  get_filename_component(real ${torch_root} REALPATH)
  get_filename_component(folder ${real} DIRECTORY)
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

# paceline_find_nccl(<torch folder> <include folder of CUDA>…): below the environment's NCCL_ROOT, beside LibTorch, what scripts/setup.sh
# unpacked, then these folders.
function(paceline_find_nccl torch_root)
  set(NCCL_INCLUDE_DIR "" PARENT_SCOPE)
  set(NCCL_PROBLEM "" PARENT_SCOPE)
  paceline_nccl_wanted(${torch_root} wanted)
  if(NOT wanted)
    set(NCCL_PROBLEM "nothing beside the LibTorch in ${torch_root} says which NCCL it was built with (no torch-*.dist-info/METADATA that \
names nvidia-nccl): configure with -DPACELINE_NCCL_VERSION=<that version> and build again" PARENT_SCOPE)
    return()
  endif()
  set(others "")
  paceline_beside_torch(${torch_root} site)
  set(roots "")
  if(NOT "$ENV{NCCL_ROOT}" STREQUAL "")
    set(roots $ENV{NCCL_ROOT}/include $ENV{NCCL_ROOT})
  endif()
  foreach(folder ${roots} ${site}/nvidia/nccl/include ${PROJECT_SOURCE_DIR}/.deps/nccl-${wanted}/nvidia/nccl/include ${ARGN})
    if(EXISTS ${folder}/nccl.h)
      paceline_nccl_header_version(${folder}/nccl.h version)
      if(version STREQUAL wanted)
        set(NCCL_INCLUDE_DIR ${folder} PARENT_SCOPE)
        return()
      endif()
      list(APPEND others "${version} in ${folder}")
    endif()
  endforeach()
  list(JOIN others ", " found)
  if(NOT found)
    set(found none)
  endif()
  set(NCCL_PROBLEM "its LibTorch was built with NCCL ${wanted}, and nccl.h of that version was not found (found: ${found}): run \
scripts/setup.sh, install the wheel nvidia-nccl-cu13==${wanted} beside LibTorch, or set NCCL_ROOT to the folder above its include/, and build again" PARENT_SCOPE)
endfunction()
