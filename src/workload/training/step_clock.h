// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "plugin/trainer.h"
#include "result/stored/step_parts.h"

namespace paceline::workload {

// Phases are the parts of a step after the wait for data, in the same order.
constexpr result::StepPart part_of(plugin::StepPhase phase) {
  return static_cast<result::StepPart>(static_cast<int>(phase) + 1);
}
static_assert(part_of(plugin::StepPhase::kEnd) == result::StepPart::kCount);
static_assert(part_of(plugin::StepPhase::kCommunication) == result::StepPart::kExposed);

// The stopwatch of one rank's steps. Phases that repeat (micro-batches) are added up. All times are in ns on
// this host's monotonic clock.
class StepClock : public plugin::StepRecorder {
 public:
  static constexpr int kMostBuckets = 4096;  // beyond it buckets are not timed
  static constexpr std::size_t kPhases = static_cast<std::size_t>(plugin::StepPhase::kEnd);

  virtual void begin();       // waiting for data begins
  virtual void input_here();  // waiting for data ends
  void enter(plugin::StepPhase phase) override;
  void launched(int bucket, std::int64_t bytes) override;
  void finished(int bucket) override;

  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }
  // The times of this step, after kEnd.
  [[nodiscard]] plugin::StepTimes times() const;

 private:
  struct Slot {
    std::int64_t bytes = 0, launched_ns = 0;
    std::atomic<std::int64_t> finished_ns{0};
  };

  [[nodiscard]] std::vector<plugin::BucketTimes> buckets() const;

  SteadyClock clock_;
  std::int64_t start_ns_ = 0, last_ns_ = 0, data_wait_ns_ = 0;
  std::size_t current_ = kPhases;
  std::array<std::int64_t, kPhases> phase_ns_{};
  std::vector<Slot> slots_ = std::vector<Slot>(kMostBuckets);
  std::atomic<int> buckets_{0};
};

}  // namespace paceline::workload
