// SPDX-License-Identifier: MIT
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/handle.h"
#include "measure/open_loop.h"
#include "measure/shared_mapping.h"

// One queue of requests for several processes (methodology: instances). It lies in a memory file: the parent
// opens a round of requests; instances claim the next one with a single compare-and-swap that also names the
// owner, and write begin, end and state into the request's own slot. So it is known what a process that died
// had claimed, and nothing else is lost.
namespace paceline::measure {

// One round: a schedule (arrivals_ns not empty), or `count` requests that are all available from the start.
struct RoundPlan {
  std::int64_t start_ns = 0;  // common to all instances
  std::int64_t count = 0;
  std::vector<std::int64_t> arrivals_ns{};  // after the start, ascending
  std::int64_t timeout_ns = 0;              // 0: a request waits without limit
  std::int64_t drain_ns = 0;                // of a schedule
  BatchRule batching{};                     // of a schedule
};

// Fate of the requests that one instance claimed. claimed = done + timed_out + unfinished + failed.
struct ClaimTally {
  std::int64_t claimed = 0, done = 0, timed_out = 0, unfinished = 0, failed = 0;
};

namespace detail {

struct alignas(64) Slot {
  std::atomic<std::uint32_t> owner;  // instance + 1; 0: not claimed
  std::atomic<std::uint32_t> state;  // RequestState
  std::int64_t scheduled_ns, start_ns, end_ns, issue_delay_ns;
  std::int64_t input_ns, output_ns;  // as in Request, and written by the same code
  std::int32_t batch;
};
static_assert(sizeof(Slot) == 64);

struct alignas(64) Seat {
  std::atomic<std::uint32_t> finished_round;
  std::atomic<std::uint32_t> ready;
  std::atomic<std::int64_t> first_call_ns;
};

inline constexpr int kMaxInstances = 1024;

struct Control {
  std::atomic<std::uint32_t> round;  // what idle instances sleep on
  std::atomic<std::uint32_t> over;
  std::atomic<std::uint32_t> stopped;
  std::uint32_t paced;  // a schedule
  std::int64_t start_ns, count, timeout_ns, deadline_ns;
  BatchRule batching;
  pthread_mutex_t intake;  // held by the one lane of all instances that is forming a batch
  alignas(64) std::atomic<std::int64_t> next;  // every slot below it is taken
  Seat seats[kMaxInstances];
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// Holds a mutex that processes share. A holder that died leaves nothing half done: its claim is in its slot.
class Turn {
 public:
  explicit Turn(pthread_mutex_t& mutex);
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn();

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace detail

class SharedQueue {
 public:
  static constexpr int kMaxInstances = detail::kMaxInstances;

  explicit SharedQueue(int instances);                        // for the parent: a new memory file
  explicit SharedQueue(FileDescriptor file);                  // for an instance: the file that it inherited
  [[nodiscard]] int file() const { return file_.get(); }      // for the instances to inherit
  [[nodiscard]] int instances() const { return instances_; }  // for the parent

  // For the parent.
  void open(const RoundPlan& plan);  // every living instance has finished the last round
  void stop();                       // no more claims in this round
  void close();                      // no more rounds
  void fail_claims(int instance);    // of a process that is certainly dead
  [[nodiscard]] bool ready(int instance) const;
  [[nodiscard]] bool finished(int instance) const;  // whether it has finished its part of the round
  [[nodiscard]] std::int64_t first_call_ns() const;
  [[nodiscard]] std::int64_t claimed() const;  // slots that are no longer free
  // Requests that became final since the last call, in slot order.
  std::vector<Request> collect();
  // Every request of the round, in order, once no instance works on it.
  [[nodiscard]] std::vector<Request> requests() const;
  [[nodiscard]] std::vector<ClaimTally> tally() const;  // one per instance

  // For an instance.
  void mark_ready(int instance, std::int64_t first_call_ns);
  bool wait_for_round();  // sleeps; false: there are no more
  void mark_finished(int instance);
  [[nodiscard]] bool stopped() const { return control().stopped.load(std::memory_order_relaxed) != 0; }

  // Whether the round has a schedule; without one each request is a call of its own.
  [[nodiscard]] bool paced() const { return control().paced != 0; }

  // One turn of a lane: claims the next request or batch, waits for it, and calls body(std::span<Slot>).
  // Returns false when nothing is left.
  template <WaitingClock C, class Body>
  bool serve(const C& clock, int instance, Body&& body) {
    const bool together = paced() && control().batching.max_requests > 1;
    const auto taken = together ? take_batch(clock, instance) : take_one(clock, instance);
    if (taken.empty()) return false;
    if (is_over(taken.front())) return true;
    const auto start = clock.now_ns();
    for (auto& slot : taken) {
      slot.start_ns = start;
      slot.batch = static_cast<std::int32_t>(taken.size());
    }
    body(taken);
    const auto end = clock.now_ns();
    for (auto& slot : taken) complete(slot, end);
    return true;
  }

  // Claims the next free slot for the caller; null when none is left or the round is stopped.
  detail::Slot* claim(int instance);

 private:
  // The next request, which is claimed before it arrives.
  template <WaitingClock C>
  std::span<detail::Slot> take_one(const C& clock, int instance) {
    const auto free_since = clock.now_ns();
    detail::Slot* slot = claim(instance);
    if (slot == nullptr) return {};
    clock.wait_until(due(*slot));
    if (stopped()) {
      give_back(*slot);
      return {};
    }
    look_at(*slot, free_since, clock.now_ns());
    return {slot, 1};
  }

  // One lane at a time waits for requests and claims those that share a batch; otherwise lanes that become
  // free together would take one request each.
  template <WaitingClock C>
  std::span<detail::Slot> take_batch(const C& clock, int instance) {
    const auto free_since = clock.now_ns();
    const detail::Turn turn(control().intake);
    const auto first = static_cast<std::size_t>(claimed());
    if (first == count_ || stopped()) return {};
    clock.wait_until(due(slots()[first]));
    detail::Slot* slot = claim(instance);
    if (slot == nullptr) return {};
    look_at(*slot, free_since, clock.now_ns());
    if (is_over(*slot)) return {slot, 1};
    const std::size_t wanted = gather_batch(clock, control().batching, count_ - first,
                                            [&](std::size_t i) { return due(slots()[first + i]); });
    std::size_t count = 1;
    while (count < wanted && claim(instance) != nullptr) ++count;
    return {slot, count};
  }

  [[nodiscard]] detail::Control& control() const { return *static_cast<detail::Control*>(control_.data()); }
  [[nodiscard]] std::span<detail::Slot> slots() const;
  void map_slots(std::int64_t count);
  [[nodiscard]] Request request(std::size_t index) const;
  [[nodiscard]] std::int64_t due(const detail::Slot& slot) const;
  [[nodiscard]] static bool is_over(const detail::Slot& slot);
  static void give_back(detail::Slot& slot);
  void look_at(detail::Slot& slot, std::int64_t free_since, std::int64_t now);
  [[nodiscard]] RequestState fate(const detail::Slot& slot, std::int64_t now) const;
  void complete(detail::Slot& slot, std::int64_t now);

  FileDescriptor file_;
  int instances_ = 0;
  SharedMapping control_, slots_;
  std::size_t count_ = 0;
  std::uint32_t round_ = 0;  // the last one seen
  std::size_t seen_ = 0;     // collect(): slots below are final or in pending_
  std::vector<std::size_t> pending_;
};

}  // namespace paceline::measure
