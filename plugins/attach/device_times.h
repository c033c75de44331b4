// SPDX-License-Identifier: MIT
#pragma once
#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "attach/step_writer.h"

namespace paceline::attach {

// When a device did what the host asked for: events on its current stream around scopes, read once it has
// passed them. Nothing waits for the device. The first failure ends it; the job does not notice.
class DeviceTimes {
 public:
  using Ticket = std::uint32_t;
  static constexpr Ticket kNone = ~Ticket{0};

  // `relax`: called with true before, and with false after the calls that a stream capture of another thread
  // would not allow; may be null.
  DeviceTimes(StepWriter& writer, c10::Device device, void (*relax)(bool));

  // Records an event at the beginning of a scope; kNone if no place is free.
  Ticket begin(std::uint16_t name);
  void end(Ticket ticket);
  // Records an event between steps, to which those after it are related, and writes down what the device has
  // passed.
  void step();
  // A forked child cannot use the device of its parent.
  void give_up() { works_ = false; }
  [[nodiscard]] bool works() const { return works_.load(std::memory_order_relaxed); }

 private:
  enum class Phase : std::uint8_t { kFree, kBegun, kEnded };
  struct Span {
    Phase phase = Phase::kFree;
    bool anchor = false;
    std::uint16_t name = kNoName, thread = 0;
    std::int64_t asked_ns = 0;
    std::optional<c10::Event> first, last;
  };

  template <typename Work>
  void guarded(Work&& work);
  Ticket take(std::uint16_t name, bool anchor);
  void record(std::optional<c10::Event>& event);
  bool resolve(Span& span);

  static constexpr std::size_t kSpans = 512;
  StepWriter& writer_;
  c10::Device device_;
  void (*relax_)(bool);
  std::mutex mutex_;
  std::atomic<bool> works_{true};
  std::unique_ptr<std::array<Span, kSpans>> spans_ = std::make_unique<std::array<Span, kSpans>>();
  std::uint64_t next_ = 0, oldest_ = 0;  // spans are a ring
  std::optional<c10::Event> anchor_;
  double anchor_ns_ = 0;
};

}  // namespace paceline::attach
