// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <vector>

#include "measure/clock_concept.h"

// The innermost loop: two clock readings around the body. Nothing but the body runs between two timestamps.
namespace paceline::measure {

// The time between two readings; `duration_ns` covers the whole batch.
struct Sample {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  friend bool operator==(const Sample&, const Sample&) = default;
};

// Hooks between samples, outside the timed region.
struct BlockHooks {
  std::function<void(std::int64_t)> before;  // index of the coming sample: rotate inputs, flush caches
  using After = std::function<bool(const Sample&)>;
  After after;                                   // true: it took long, which is a pause in the series
  const std::atomic<bool>* interrupt = nullptr;  // true ends the block before its next sample
  std::vector<std::int64_t>* pauses = nullptr;   // sample counts after which there was a pause
  [[nodiscard]] bool interrupted() const {
    return interrupt != nullptr && interrupt->load(std::memory_order_relaxed);
  }
};

// Makes room for `count` samples in total and touches its pages, so that recording allocates nothing.
void prepare(std::vector<Sample>& samples, std::int64_t count);

// Calls the body `count` times. A body that takes the count does them in one call: it may start them all
// before it waits.
template <class Body>
void call_body(Body& body, std::int64_t count) {
  if constexpr (std::invocable<Body&, std::int64_t>)
    body(count);
  else
    for (std::int64_t i = 0; i < count; ++i) body();
}

// Appends samples until there are `until`; each is `batch` iterations of the body. `samples` must have room.
template <Clock C, class Body>
void run_block(const C& clock, Body& body, std::int64_t batch, std::int64_t until,
               std::vector<Sample>& samples, const BlockHooks& hooks) {
  for (auto n = static_cast<std::int64_t>(samples.size()); n < until && !hooks.interrupted(); ++n) {
    if (hooks.before) hooks.before(n);
    const auto start = clock.now_ns();
    call_body(body, batch);
    const auto end = clock.now_ns();
    samples.push_back({start, end - start});
    if (hooks.after && hooks.after(samples.back()) && hooks.pauses != nullptr) hooks.pauses->push_back(n + 1);
  }
}

}  // namespace paceline::measure
