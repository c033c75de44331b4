// SPDX-License-Identifier: MIT
#include "process/quick_exit.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "host/noise/instruments.h"

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

constexpr const char* kOwnVariable = "PACELINE_STATIC_DESTRUCTORS";

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool writes_at_exit() {
  return __asan_init != nullptr || __tsan_init != nullptr || __lsan_init != nullptr ||
         __gcov_init != nullptr || llvm_gcov_init != nullptr || &__llvm_profile_runtime != nullptr ||
         __gmon_start__ != nullptr || is_set(kOwnVariable) ||
         std::ranges::any_of(host::tool_variables(), is_set, &host::ToolVariable::name);
}

void exit_without_destructors(int code) {
  if (writes_at_exit()) return;
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace paceline::process
