// SPDX-License-Identifier: MIT
#pragma once
#include <time.h>

#include <cstdint>

namespace paceline {

// CPU time of the calling thread so far, in ns.
inline std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace paceline
