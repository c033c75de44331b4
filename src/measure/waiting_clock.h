// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <thread>

#include "base/clock.h"
#include "measure/clock_concept.h"

namespace paceline::measure {

// A clock that can also wait; a fake one advances its time instead.
template <class C>
concept WaitingClock = Clock<C> && requires(const C& clock, std::int64_t when) {
  clock.wait_until(when);
};

// The host's clock. It sleeps until 200 us before the moment and then spins: a sleeping thread wakes late.
class HostWaitingClock : public SteadyClock {
 public:
  explicit HostWaitingClock(const std::atomic<bool>* interrupt = nullptr) : interrupt_(interrupt) {}
  // Returns early when interrupted.
  void wait_until(std::int64_t when_ns) const {
    for (std::int64_t left = when_ns - now_ns() - kSpinNs; left > 0; left = when_ns - now_ns() - kSpinNs) {
      if (interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed)) return;
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left, kLongestSleepNs)));
    }
    while (now_ns() < when_ns) {
    }
  }

 private:
  static constexpr std::int64_t kSpinNs = 200'000;
  static constexpr std::int64_t kLongestSleepNs = 100'000'000;  // so that an interrupt is seen
  const std::atomic<bool>* interrupt_;
};

}  // namespace paceline::measure
