// SPDX-License-Identifier: MIT
#include "process/quick_exit.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

// Where this program was built with a sanitizer, or for coverage.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
[[gnu::weak]] void __gcov_init(void*);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace paceline::process {
namespace {

// What tools come in by: the loader's variables, those of CUPTI, NVTX, Nsight Systems, VTune and OpenMP.
constexpr std::array kInjections{"LD_PRELOAD",
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
  return __asan_init != nullptr || __tsan_init != nullptr || __gcov_init != nullptr ||
         std::any_of(kInjections.begin(), kInjections.end(), is_set);
}

void exit_without_destructors(int code) {
  if (writes_at_exit()) return;
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace paceline::process
