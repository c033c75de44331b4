// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>

namespace paceline {

// Host clock of every duration: monotonic, int64 nanoseconds. Code that measures is a template over the
// clock, so that tests run on a fake one; a clock is any copyable object with `std::int64_t now_ns()`.
struct SteadyClock {
  static_assert(std::chrono::steady_clock::is_steady);
  [[nodiscard]] std::int64_t now_ns() const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace paceline
