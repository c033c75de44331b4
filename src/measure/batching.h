// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "measure/waiting_clock.h"

namespace paceline::measure {

// Which waiting requests share an inference (methodology: dynamic batching).
struct BatchRule {
  std::int64_t max_requests = 1;
  std::int64_t timeout_ns = 0;  // how long a request may wait for others, from its arrival on
};

// How many requests share a batch with the one that is due: those that have arrived, and, while there is room
// and time, those that it waits for. due(i): when the i-th of `left` requests arrives, 0 being the due one.
template <WaitingClock C, class Due>
std::size_t gather_batch(const C& clock, const BatchRule& rule, std::size_t left, Due due) {
  const auto closes = std::max(clock.now_ns(), due(0) + rule.timeout_ns);
  std::size_t count = 1;
  for (; count < static_cast<std::size_t>(rule.max_requests); ++count) {
    if (count == left || due(count) > closes) {
      clock.wait_until(closes);
      break;
    }
    clock.wait_until(due(count));
  }
  return count;
}

}  // namespace paceline::measure
