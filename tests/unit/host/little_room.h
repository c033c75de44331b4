// SPDX-License-Identifier: MIT
// Runs code in a process with little address space, in a death test.
#pragma once
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/error.h"

namespace paceline::test {

inline constexpr int kRefused =
    7;  // exit code where the work threw Error(kUnavailable), whose words it prints

// 40 MB more than the process has: the stacks of some threads.
template <class Work>
[[noreturn]] void run_with_little_room(Work work) {
  constexpr rlim_t kRoom = rlim_t{40} << 20;
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlimit limit{pages * 4096 + kRoom, pages * 4096 + kRoom};
  ::setrlimit(RLIMIT_AS, &limit);
  try {
    work();
  } catch (const Error& e) {
    std::cerr << e.what();
    std::_Exit(e.code() == ErrorCode::kUnavailable ? kRefused : kRefused + 1);
  }
  std::_Exit(kRefused + 2);
}

}  // namespace paceline::test
