// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "measure/waiting_clock.h"

namespace paceline::measure {

// Requests that are served together (methodology: dynamic batching).
struct BatchRule {
  std::int64_t max_requests = 1;
  std::int64_t timeout_ns = 0;  // how long a request may wait for others, from its arrival on
};

// How many requests share a batch with one that is due: those already there, and while there is room and time
// those that still come; waits for them. due(i): when the i-th of `left` requests comes, the due one being 0.
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
