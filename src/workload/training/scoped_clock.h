// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "plugin/trainer.h"
#include "workload/training/step_clock.h"

namespace paceline::workload {

inline constexpr const char* kStepScope = "step ";  // and its number

// A stopwatch that has the profiler write down every step and its parts as scopes.
class ScopedClock : public StepClock {
 public:
  // `step`: the number of the next one. The profiler watches already.
  ScopedClock(plugin::Profiler& profiler, std::int64_t step) : profiler_(profiler), step_(step) {}
  void begin() override;
  void input_here() override;
  void enter(plugin::StepPhase phase) override;

 private:
  void open(const char* part);
  void close_parts();

  plugin::Profiler& profiler_;
  std::int64_t step_;
  plugin::StepPhase phase_ = plugin::StepPhase::kEnd;
  int open_ = 0;  // parts
};

}  // namespace paceline::workload
