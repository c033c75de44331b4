// SPDX-License-Identifier: MIT
#include "workload/training/step_clock.h"

#include <algorithm>

namespace paceline::workload {

void StepClock::begin() {
  phase_ns_ = {};
  current_ = kPhases;
  buckets_ = 0;
  start_ns_ = last_ns_ = clock_.now_ns();
}

void StepClock::input_here() {
  last_ns_ = clock_.now_ns();
  data_wait_ns_ = last_ns_ - start_ns_;
}

void StepClock::enter(plugin::StepPhase phase) {
  const auto now = clock_.now_ns();
  if (current_ < kPhases) phase_ns_[current_] += now - last_ns_;
  current_ = static_cast<std::size_t>(phase);
  last_ns_ = now;
}

void StepClock::launched(int bucket, std::int64_t bytes) {
  if (bucket < 0 || bucket >= kMostBuckets) return;
  auto& slot = slots_[static_cast<std::size_t>(bucket)];
  slot.bytes = bytes;
  slot.finished_ns.store(0, std::memory_order_relaxed);
  slot.launched_ns = clock_.now_ns();
  if (bucket >= buckets_) buckets_ = bucket + 1;
}

void StepClock::finished(int bucket) {
  if (bucket >= 0 && bucket < kMostBuckets)
    slots_[static_cast<std::size_t>(bucket)].finished_ns.store(clock_.now_ns(), std::memory_order_relaxed);
}

plugin::StepTimes StepClock::times() const {
  return {last_ns_ - start_ns_, data_wait_ns_, phase_ns_, buckets()};
}

std::vector<plugin::BucketTimes> StepClock::buckets() const {
  std::vector<plugin::BucketTimes> all;
  for (int i = 0; i < buckets_; ++i) {
    const auto& slot = slots_[static_cast<std::size_t>(i)];
    const auto finished = slot.finished_ns.load(std::memory_order_relaxed);
    all.push_back({slot.bytes, slot.launched_ns - start_ns_, {}});
    if (finished != 0) all.back().finished_ns = finished - start_ns_;
  }
  return all;
}

}  // namespace paceline::workload
