// SPDX-License-Identifier: MIT
// Catches the signals that interrupt a run.
#pragma once
#include <atomic>

namespace paceline::cli {

// During its lifetime SIGINT, SIGTERM and SIGHUP set flag(). A second SIGINT or SIGTERM, a second later or
// more, exits with 130 at once, and the workers die with this process.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();
  [[nodiscard]] static const std::atomic<bool>& flag();
};

}  // namespace paceline::cli
