// SPDX-License-Identifier: MIT
#include "process/quick_exit.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

// They are there where this program was built with a sanitizer, for coverage or for gprof.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
[[gnu::weak]] void __lsan_init();
[[gnu::weak]] void __gcov_init(void*);
[[gnu::weak]] void llvm_gcov_init(void*, void*);
[[gnu::weak]] extern int __llvm_profile_runtime;
[[gnu::weak]] void __gmon_start__();
}
// NOLINTEND(bugprone-reserved-identifier)

namespace paceline::process {
namespace {

// Our own variable, then what tools come in by: the loader's variables, those of CUPTI, NVTX, Nsight Systems,
// VTune and OpenMP.
constexpr std::array kVariables{"PACELINE_STATIC_DESTRUCTORS",
                                "LD_PRELOAD",
                                "LD_AUDIT",
                                "CUDA_INJECTION64_PATH",
                                "NVTX_INJECTION64_PATH",
                                "NSYS_PROFILING_SESSION_ID",
                                "INTEL_LIBITTNOTIFY64",
                                "OMP_TOOL_LIBRARIES"};

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool writes_at_exit() {
  return __asan_init != nullptr || __tsan_init != nullptr || __lsan_init != nullptr ||
         __gcov_init != nullptr || llvm_gcov_init != nullptr || &__llvm_profile_runtime != nullptr ||
         __gmon_start__ != nullptr || std::any_of(kVariables.begin(), kVariables.end(), is_set);
}

void exit_without_destructors(int code) {
  if (writes_at_exit()) return;
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace paceline::process
