// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "measure/lane_crew.h"
#include "measure/loop_types.h"
#include "measure/waiting_clock.h"

// Issues requests by a schedule, whether or not the server is ready (methodology: load scenarios). The
// schedule is fixed beforehand and is the queue: what is due and not taken waits in it, without bound. A free
// lane waits for the next arrival itself, so that no thread of ours takes a core from the engine while it
// computes.
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

enum class RequestState : std::uint8_t {
  kWaiting,  // not taken; after the run: never offered, because the run was interrupted
  kDone,
  kTimedOut,    // waited longer than the timeout, never started
  kUnfinished,  // not complete when the drain ended
  kFailed,      // taken by a process that died before it was complete
};

struct Request {
  std::int64_t scheduled_ns = 0;
  std::int64_t start_ns = 0;                 // when a lane took it
  std::int64_t end_ns = 0;                   // when its outputs were readable
  std::int64_t input_ns = 0, output_ns = 0;  // copies inside [start, end], written by the body; 0: none
  std::int64_t issue_delay_ns = -1;          // how late a free lane noticed it; -1: no lane was free
  std::int32_t batch = 0;                    // requests in its batch, itself included; 0: not served
  std::int32_t instance = -1;                // which of several processes claimed it; -1: none
  RequestState state = RequestState::kWaiting;
  [[nodiscard]] std::int64_t latency_ns() const { return end_ns - scheduled_ns; }
};

struct OpenLoopConfig {
  std::vector<std::int64_t> arrivals_ns;   // after the start, ascending
  std::int64_t timeout_ns = 0;             // 0: a request waits without limit
  std::int64_t drain_ns = 10'000'000'000;  // after the last arrival
  BatchRule batching{};
};

class OpenLoop {
 public:
  OpenLoop(const OpenLoopConfig& config, std::int64_t start_ns, const std::atomic<bool>* interrupt = nullptr);

  // One turn of a lane: takes the next request or batch, waits for it if it has not arrived, and calls
  // body(std::span<Request>). Returns false when nothing is left. `clock` is the lane's own.
  template <WaitingClock C, class Body>
  bool serve(const C& clock, Body&& body) {
    const std::span<Request> taken = take(clock);
    if (taken.empty()) return false;
    if (taken.front().state == RequestState::kTimedOut) return true;
    const auto start = clock.now_ns();
    for (auto& request : taken) {
      request.start_ns = start;
      request.batch = static_cast<std::int32_t>(taken.size());
    }
    body(taken);
    complete(taken, clock.now_ns());
    return true;
  }

  [[nodiscard]] std::int64_t done() const { return done_.load(std::memory_order_relaxed); }
  // In order of arrival; to be called after every lane has finished.
  [[nodiscard]] std::vector<Request> take_requests() { return std::move(requests_); }

 private:
  [[nodiscard]] bool stopped() const {
    return interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed);
  }

  // One lane at a time waits for arrivals, the others wait for their turn.
  template <WaitingClock C>
  std::span<Request> take(const C& clock) {
    const auto free_since = clock.now_ns();
    const std::lock_guard lock(intake_);
    if (next_ == requests_.size() || stopped()) return {};
    Request& first = requests_[next_];
    clock.wait_until(first.scheduled_ns);
    if (stopped()) return {};
    const auto now = clock.now_ns();
    if (give_up(now)) return {};
    if (free_since <= first.scheduled_ns) first.issue_delay_ns = now - first.scheduled_ns;
    const std::size_t count = expired(first, now) ? 1 : gather(clock);
    if (stopped()) return {};
    const std::span<Request> taken(&first, count);
    next_ += count;
    return taken;
  }

  // The requests that share a batch with the next one.
  template <WaitingClock C>
  std::size_t gather(const C& clock) {
    const std::size_t first = next_;
    return gather_batch(clock, config_.batching, requests_.size() - first,
                        [&](std::size_t i) { return requests_[first + i].scheduled_ns; });
  }

  bool give_up(std::int64_t now);
  bool expired(Request& request, std::int64_t now);
  void complete(std::span<Request> batch, std::int64_t now);

  OpenLoopConfig config_;
  std::int64_t deadline_ns_;  // end of the drain
  const std::atomic<bool>* interrupt_;
  std::mutex intake_;
  std::vector<Request> requests_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::int64_t> done_ = 0;
};

// Runs the whole schedule on a crew, one lane per thread, with body(lane, std::span<Request>).
template <WaitingClock C, class Body>
std::vector<Request> run_open_loop(const C& clock, Body& body, LaneCrew& crew, const OpenLoopConfig& config,
                                   const LoopHooks& hooks) {
  constexpr std::int64_t kLeadNs = 20'000'000;  // so that the lanes are waiting when the first request comes
  const auto start = clock.now_ns() + kLeadNs;
  OpenLoop loop(config, start, hooks.interrupt);
  crew.run(
      [&](int lane) {
        while (!crew.failed() && loop.serve(clock, [&](std::span<Request> batch) { body(lane, batch); })) {
        }
      },
      [&] {
        if (hooks.progress) hooks.progress({Phase::kMeasure, loop.done(), clock.now_ns() - start, nullptr});
      },
      std::chrono::milliseconds(500));
  return loop.take_requests();
}

}  // namespace paceline::measure
