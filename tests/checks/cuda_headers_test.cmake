# SPDX-License-Identifier: MIT
# usage: cmake -DSOURCE=<sources> -DWORK=<scratch folder> -P cuda_headers_test.cmake
# Which headers of CUDA and NCCL the cuda plug-in is compiled with, on made-up folders.
list(APPEND CMAKE_MODULE_PATH ${SOURCE}/cmake)
set(TORCH_PROBLEM "no LibTorch in this test")   # so that Cuda.cmake makes no targets
set(PACELINE_PLUGIN_CUDA AUTO)
set(PROJECT_SOURCE_DIR ${WORK}/sources)
file(REMOVE_RECURSE ${WORK})
include(Plugins)
include(Cuda)
include(Nccl)
foreach(name CUDA_HOME CUDA_PATH NCCL_ROOT)
  unset(ENV{${name}})
endforeach()

function(expect what actual expected)
  if(NOT "${actual}" MATCHES "${expected}")
    message(SEND_ERROR "${what}: got '${actual}', expected '${expected}'")
  endif()
endfunction()

function(write_nccl folder major minor patch)
  file(WRITE ${folder}/nccl.h "#define NCCL_MAJOR ${major}\n#define NCCL_MINOR ${minor}\n#define NCCL_PATCH ${patch}\n#define NCCL_SUFFIX \"\"\n")
endfunction()

function(write_cuda folder)
  foreach(header cuda_runtime_api.h cusolverDn.h crt/host_defines.h cccl/nv/target)
    file(WRITE ${folder}/include/${header} "")
  endforeach()
endfunction()

# A PyTorch as pip installs it, pinned to NCCL 2.30.7; a toolkit with another one.
set(torch ${WORK}/site/torch)
set(toolkit ${WORK}/toolkit/include)
file(WRITE ${WORK}/site/torch-2.15.0.dist-info/METADATA
  "Requires-Dist: nvidia-cudnn-cu13==9.26.0.51\nRequires-Dist: nvidia-nccl-cu13==2.30.7; platform_system == \"Linux\"\n")
write_nccl(${toolkit} 2 28 9)

paceline_find_nccl(${torch} ${toolkit})
expect("another release only" "${NCCL_INCLUDE_DIR}" "^$")
expect("both versions are named" "${NCCL_PROBLEM}" "NCCL 2[.]30[.]7.*2[.]28[.]9 in ${toolkit}.*nvidia-nccl-cu13==2[.]30[.]7")
expect("a definition takes it" "${NCCL_PROBLEM}" "^[^;\"]+$")

write_nccl(${WORK}/site/nvidia/nccl/include 2 30 4)
paceline_find_nccl(${torch} ${toolkit})
expect("neither fits" "${NCCL_INCLUDE_DIR}${NCCL_PROBLEM}" "2[.]30[.]4 in .*, 2[.]28[.]9 in")

write_nccl(${toolkit} 2 30 7)
paceline_find_nccl(${torch} ${toolkit})
expect("the toolkit has it" "${NCCL_INCLUDE_DIR}" "^${toolkit}$")

write_nccl(${PROJECT_SOURCE_DIR}/.deps/nccl-2.30.7/nvidia/nccl/include 2 30 7)
paceline_find_nccl(${torch} ${toolkit})
expect("what set-up unpacked" "${NCCL_INCLUDE_DIR}" "[.]deps/nccl-2[.]30[.]7")

write_nccl(${WORK}/site/nvidia/nccl/include 2 30 7)
paceline_find_nccl(${torch} ${toolkit})
expect("beside LibTorch" "${NCCL_INCLUDE_DIR}" "^${WORK}/site/nvidia/nccl/include$")
expect("no problem then" "${NCCL_PROBLEM}" "^$")

write_nccl(${WORK}/own/include 2 30 7)
set(ENV{NCCL_ROOT} ${WORK}/own)
paceline_find_nccl(${torch} ${toolkit})
expect("the environment's NCCL_ROOT" "${NCCL_INCLUDE_DIR}" "^${WORK}/own/include$")
write_nccl(${WORK}/own/include 2 30 4)
paceline_find_nccl(${torch} ${toolkit})
expect("an NCCL_ROOT of another release" "${NCCL_INCLUDE_DIR}" "^${WORK}/site/nvidia/nccl/include$")
unset(ENV{NCCL_ROOT})

# A LibTorch that does not say what it was built with.
paceline_find_nccl(${WORK}/elsewhere/torch ${toolkit})
expect("unknown" "${NCCL_INCLUDE_DIR}|${NCCL_PROBLEM}" "^[|]nothing .*-DPACELINE_NCCL_VERSION=")
set(PACELINE_NCCL_VERSION 2.30.7)
paceline_find_nccl(${WORK}/elsewhere/torch ${toolkit})
expect("the user says it" "${NCCL_INCLUDE_DIR}" "[.]deps/nccl-2[.]30[.]7")
unset(PACELINE_NCCL_VERSION)

# CUDA's headers that pip put beside LibTorch come before those of the machine, and only when they are whole.
set(TORCH_FOUND_ROOT ${torch})
foreach(header cuda_runtime_api.h cusolverDn.h crt/host_defines.h)
  file(WRITE ${WORK}/site/nvidia/cu13/include/${header} "")
  paceline_find_cuda_root(root)
  expect("not whole, with ${header}" "${root}" "^(/usr/local/cuda.*)?$")
endforeach()
write_cuda(${WORK}/site/nvidia/cu13)
paceline_find_cuda_root(root)
expect("pip's" "${root}" "^${WORK}/site/nvidia/cu13$")
write_cuda(${WORK}/home)
set(ENV{CUDA_HOME} ${WORK}/home)
paceline_find_cuda_root(root)
expect("the environment's" "${root}" "^${WORK}/home$")

# Headers of another major version.
file(WRITE ${torch}/version.py "__version__ = '2.15.0+cu132'\ncuda: Optional[str] = '13.2'\nhip: Optional[str] = None\n")
paceline_torch_cuda_version(${torch} version)
expect("LibTorch's CUDA" "${version}" "^13[.]2$")
paceline_cuda_mismatch(12.8 ${version} problem)
expect("another major version" "${problem}" "CUDA 12[.]8, its LibTorch was built for 13[.]2")
foreach(headers 13.0 13.2)
  paceline_cuda_mismatch(${headers} ${version} problem)
  expect("the same major version" "${problem}" "^$")
endforeach()
paceline_cuda_mismatch(13.0 "" problem)
expect("a LibTorch that does not say" "${problem}" "^$")
