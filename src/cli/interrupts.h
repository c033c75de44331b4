// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

namespace paceline::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP set flag(); a second SIGINT or SIGTERM kills the workers (they
// die with us) and exits 130 at once.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();
  [[nodiscard]] static const std::atomic<bool>& flag();
};

}  // namespace paceline::cli
