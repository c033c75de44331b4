// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "plugin/trainer.h"
#include "workload/training/step_clock.h"

namespace paceline::workload {

inline constexpr const char* kStepScope = "step ";  // followed by its number

// A stopwatch that has the profiler record every step and its parts as scopes.
class ScopedClock : public StepClock {
 public:
  // `step` is the number of the next step. The profiler must be running.
  ScopedClock(plugin::Profiler& profiler, std::int64_t step) : profiler_(profiler), step_(step) {}
  void begin() override;
  void input_here() override;
  void enter(plugin::StepPhase phase) override;

 private:
  void open(result::StepPart part);
  void close_parts();

  plugin::Profiler& profiler_;
  std::int64_t step_;
  plugin::StepPhase phase_ = plugin::StepPhase::kEnd;
  int open_ = 0;  // parts
};

}  // namespace paceline::workload
