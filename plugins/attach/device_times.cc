// SPDX-License-Identifier: MIT
#include "attach/device_times.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <utility>

namespace paceline::attach {
namespace {

constexpr double kNsPerMs = 1e6;

}  // namespace

DeviceTimes::DeviceTimes(StepWriter& writer, c10::Device device, void (*relax)(bool))
    : writer_(writer), device_(device), relax_(relax) {}

// Runs it unless another thread is at it, or something has failed.
template <typename Work>
void DeviceTimes::guarded(Work&& work) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !works()) return;
  if (relax_) relax_(true);
  try {
    work();
  } catch (...) {  // such as an event that was recorded while a graph was captured
    works_ = false;
  }
  if (relax_) relax_(false);
}

void DeviceTimes::record(std::optional<c10::Event>& event) {
  if (!event) event.emplace(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  event->record(c10::impl::getDeviceGuardImpl(device_.type())->getStream(device_));
}

DeviceTimes::Ticket DeviceTimes::take(std::uint16_t name, bool anchor) {
  const auto ticket = static_cast<Ticket>(next_ % kSpans);
  auto& span = (*spans_)[ticket];
  if (span.phase != Phase::kFree) return kNone;
  span.anchor = anchor;
  span.name = name;
  span.thread = thread_number();
  span.asked_ns = monotonic_ns();
  record(span.first);
  span.phase = Phase::kBegun;
  ++next_;
  return ticket;
}

DeviceTimes::Ticket DeviceTimes::begin(std::uint16_t name) {
  auto ticket = kNone;
  guarded([&] { ticket = take(name, false); });
  return ticket;
}

void DeviceTimes::end(Ticket ticket) {
  if (ticket == kNone) return;
  guarded([&] {
    auto& span = (*spans_)[ticket];
    if (span.phase != Phase::kBegun) return;
    record(span.last);
    span.phase = Phase::kEnded;
  });
}

void DeviceTimes::step() {
  guarded([&] {
    constexpr int kMostPerStep = 32;
    for (int i = 0; i < kMostPerStep && oldest_ < next_; ++i, ++oldest_) {
      auto& span = (*spans_)[oldest_ % kSpans];
      const bool given_up =
          span.phase == Phase::kBegun && next_ - oldest_ > kSpans / 2;  // its end was missed
      if (given_up)
        span.phase = Phase::kFree;
      else if (!resolve(span))
        break;
    }
    if (const auto ticket = take(kNoName, true); ticket != kNone) (*spans_)[ticket].phase = Phase::kEnded;
  });
}

// False: the device has not come to its end, or the scope has not ended.
bool DeviceTimes::resolve(Span& span) {
  if (span.phase != Phase::kEnded || !(span.anchor ? span.first : span.last)->query()) return false;
  span.phase = Phase::kFree;
  const auto begin_ns = anchor_ ? anchor_ns_ + anchor_->elapsedTime(*span.first) * kNsPerMs
                                : static_cast<double>(span.asked_ns);
  if (span.anchor) {
    anchor_ns_ = begin_ns;
    std::swap(anchor_, span.first);
    return true;
  }
  if (!anchor_) return true;  // of the first step: nothing to relate it to
  StepRecord record{};
  record.begin_ns = static_cast<std::int64_t>(begin_ns);
  record.end_ns = static_cast<std::int64_t>(begin_ns + span.first->elapsedTime(*span.last) * kNsPerMs);
  record.value = static_cast<std::uint64_t>(span.asked_ns);
  record.name = span.name;
  record.thread = span.thread;
  record.kind = static_cast<std::uint8_t>(StepKind::kDevice);
  writer_.add(record);
  return true;
}

}  // namespace paceline::attach
